package causes_test

import (
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/scenarios"
)

// sampled is which of the runs that the catalogue says nothing of are played with each change:
// one of so many.
const sampled = 40

// TestWhatIsTold plays locks under scenarios, and holds what is told of each run against its
// record: that events and commands are those that a cause names, and that the recorded commands,
// executed once more on other servers, do to the keys what it says.
func TestWhatIsTold(t *testing.T) {
	effort.Long(t)
	type job struct {
		s scenarios.Scenario
		l locks.Spec
	}
	var jobs []job
	for i, s := range scenarios.All() {
		for n, l := range libraries.Catalogue() {
			if s.Names(l.Name, s.Broken().Guard) || effort.Nightly() || (i+n)%sampled == 0 {
				jobs = append(jobs, job{s, l})
			}
		}
	}
	var mu sync.Mutex
	kinds := map[checker.CauseKind]int{}
	next := make(chan job)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range next {
				for _, c := range walk(t, j.s, j.l) {
					mu.Lock()
					kinds[c.Kind]++
					mu.Unlock()
				}
			}
		})
	}
	for _, j := range jobs {
		next <- j
	}
	close(next)
	wg.Wait()
	t.Log(len(jobs), "runs", kinds)
	for _, kind := range []checker.CauseKind{
		checker.ReleasedAnothers, checker.Overwritten, checker.Trespassed, checker.SharedIdentity, checker.GrantedOver, checker.GrantedLate,
		checker.NothingAsked, checker.Minority, checker.ServerForgot, checker.LeaseOutlived, checker.LeaseShortened, checker.NoExpiry,
		checker.KeyLeftBehind, checker.LateCommand, checker.Revived, checker.FalseDone, checker.FalseRefusal, checker.MetOwnKey,
		checker.ServerRefused, checker.TokenNotHigher, checker.Spinning,
	} {
		if kinds[kind] == 0 {
			t.Errorf("no run has a cause of the kind %s, so that nothing is known of it", kind)
		}
	}
}

// walk plays one run, checks what is told of it, and returns its causes.
func walk(t *testing.T, s scenarios.Scenario, l locks.Spec) []checker.Cause {
	cfg, err := s.Config(l, s.Broken().Guard, harness.Embedded(), 0)
	if err != nil {
		return nil // it does not apply
	}
	cfg.Seed = 1
	res, err := harness.Run(t.Context(), cfg)
	if err != nil {
		return nil // nothing is told of it but that
	}
	v := &verifier{T: t, run: s.ID + " " + l.Name, res: res, s: s}
	v.reasons()
	v.complete()
	for _, c := range res.Causes {
		v.cause(c)
	}
	return res.Causes
}

type verifier struct {
	*testing.T
	run    string
	res    harness.Result
	s      scenarios.Scenario
	played *replay
}

func (v *verifier) wrong(c checker.Cause, what string) {
	v.Helper()
	v.Errorf("%s: %s: %s: %s %v %+v", v.run, c.Kind, what, c.Sentence, c.Events, c.Commands)
}

// reasons are told of the scenario's own cases alone, if they came out as it says.
func (v *verifier) reasons() {
	c, cfg := v.s.Case(v.res.Config.Lock.Name, v.res.Config.Guard), v.res.Config
	if v.res.Why != "" && (v.res.Why != v.s.Why || cfg.Lock.Name != v.s.Broken().Lock || cfg.Guard != v.s.Broken().Guard || v.res.Outcome != checker.AsExpected) {
		v.Errorf("%s: the reason of %s is told of another run: %s", v.run, v.s.Broken(), v.res.Why)
	}
	if v.res.Note != "" && (v.res.Note != c.Note || !v.s.Names(cfg.Lock.Name, cfg.Guard) || v.res.Outcome != checker.AsExpected) {
		v.Errorf("%s: a note is told that was written for another run: %s", v.run, v.res.Note)
	}
}

// complete checks that each property that failed, and no other, has one cause.
func (v *verifier) complete() {
	told := map[checker.Property]int{}
	for _, c := range v.res.Causes {
		for _, p := range c.Properties {
			told[p]++
		}
	}
	for _, r := range v.res.Report.Results {
		if want := map[bool]int{true: 1, false: 0}[r.Verdict == checker.Fail]; told[r.Property] != want {
			v.Errorf("%s: %s is %v, and has %d causes", v.run, r.Property, r.Verdict, told[r.Property])
		}
	}
}

var eventNamed = regexp.MustCompile(`event (\d+)`)

// cause checks the evidence of a cause.
func (v *verifier) cause(c checker.Cause) {
	if !slices.IsSorted(c.Events) || len(c.Events) == 0 {
		v.wrong(c, "its events are none, or in no order")
		return
	}
	for _, e := range c.Events {
		if e < 0 || e >= len(v.res.Events) {
			v.wrong(c, "there is no such event")
			return
		}
	}
	if !c.Derived() {
		return
	}
	for _, m := range eventNamed.FindAllStringSubmatch(c.Sentence, -1) {
		if n, _ := strconv.Atoi(m[1]); !slices.Contains(c.Events, n) {
			v.wrong(c, "it names an event that it does not rest on")
		}
	}
	for _, cmd := range c.Commands {
		if cmd.Exchange < 0 || cmd.Exchange >= len(v.res.Exchanges) {
			v.wrong(c, "there is no such command")
			return
		}
		x := v.res.Exchanges[cmd.Exchange]
		if x.Client != cmd.Client || x.Node != cmd.Node || x.Command != cmd.Command || x.Reply != cmd.Reply && x.Answer != cmd.Reply {
			v.wrong(c, "the command is another")
		}
	}
	v.kind(c)
}

// kind checks what the kind of a cause says of its decisive command.
func (v *verifier) kind(c checker.Cause) {
	if len(c.Commands) > 0 && !mentions(c) {
		v.wrong(c, "it does not name its command")
	}
	switch c.Kind {
	case checker.ServerForgot:
		if !v.hasFault(c) {
			v.wrong(c, "no fault of a server is among its events")
		}
		return
	case checker.TokenNotHigher:
		var tokens []int64
		for _, e := range c.Events {
			if token := v.res.Events[e].Token; token != 0 {
				tokens = append(tokens, token)
			}
		}
		if len(tokens) != 2 || tokens[1] > tokens[0] {
			v.wrong(c, "the tokens rise")
		}
		return
	case checker.UnseenWrite:
		r, w := v.res.Events[c.Events[0]], v.res.Events[c.Events[1]]
		if r.F != histories.Read || w.F != histories.Write || r.Attempt != w.Attempt || r.Version == w.Version {
			v.wrong(c, "the write is over what was read")
		}
		return
	case checker.Spinning:
		if e := v.res.Events[c.Events[len(c.Events)-1]]; e.F != histories.Waited || !strings.Contains(c.Sentence, e.Value) {
			v.wrong(c, "nobody waited so")
		}
		return
	case checker.NothingAsked:
		v.nothingAsked(c)
		return
	case checker.Minority:
		nodes := map[string]bool{}
		for _, cmd := range c.Commands {
			nodes[cmd.Node] = true
		}
		if 2*len(nodes) > v.res.Config.Lock.Masters {
			v.wrong(c, "that is a majority")
		}
	case checker.ServerRefused:
		if r := c.Commands[0].Reply; !strings.HasPrefix(r, `"`) {
			v.wrong(c, "the reply is no error")
		}
		return
	}
	if v.shaken() || slices.ContainsFunc(v.res.Exchanges, tellsInstant) {
		return // what servers then held, commands alone do not tell
	}
	if v.played == nil {
		v.played = newReplay(v.T, v.res.Exchanges)
	}
	v.keys(c)
}

// keys checks what a cause says against what its commands did when they were executed once more.
func (v *verifier) keys(c checker.Cause) {
	if len(c.Commands) == 0 {
		v.wrong(c, "it names no command")
		return
	}
	first := c.Commands[0]
	if slices.ContainsFunc(c.Commands, func(cmd checker.CauseCommand) bool { return v.played.differs[cmd.Exchange] }) {
		return
	}
	did := v.played.did(first.Exchange, first.Key)
	owner := func() string { return v.res.Exchanges[did.before.by].Client }
	threads := v.res.Config.Threads > 0
	switch c.Kind {
	case checker.ReleasedAnothers:
		if !did.before.there || did.after.there {
			v.wrong(c, "it deleted nothing")
		} else if strings.HasPrefix(first.Command, "DEL ") && owner() == first.Client && !threads {
			// Whoever was let in on a key that the deleting client itself had made is told as well.
			if len(c.Commands) < 2 || c.Commands[1].Client == first.Client {
				v.wrong(c, "the key was its own")
			}
		}
	case checker.OwnKeyDeleted:
		if !did.before.there || did.after.there || owner() != first.Client {
			v.wrong(c, "it did not delete its own key")
		}
	case checker.Overwritten, checker.Trespassed, checker.GrantedOver:
		if !did.before.there || owner() == first.Client && !threads {
			v.wrong(c, "no key of another was there")
		}
	case checker.ExtendedAnothers:
		if !did.before.there || did.before.ttl == did.after.ttl || owner() == first.Client && !threads {
			v.wrong(c, "no key of another was given another time to live")
		}
	case checker.SharedIdentity:
		if !did.before.there {
			v.wrong(c, "no key was there")
		}
	case checker.LeaseOutlived, checker.LeaseShortened, checker.LeaseTooShort, checker.DeadlineTooLate:
		v.outlived(c)
	case checker.GrantedLate:
		other := v.played.did(c.Commands[1].Exchange, c.Commands[1].Key)
		if other.before.there || !other.after.there {
			v.wrong(c, "the other did not find the key gone")
		}
	case checker.NoExpiry:
		if !did.after.there || did.after.ttl != 0 {
			v.wrong(c, "the key has a time to live, or is not there")
		}
	case checker.KeyLeftBehind, checker.LateCommand, checker.KeptRenewing, checker.LeaseTooLong, checker.Revived:
		if !did.after.there {
			v.wrong(c, "it left no key there")
		}
	case checker.FalseDone, checker.NotReleased:
		if did.before.there != did.after.there || did.before.value != did.after.value {
			v.wrong(c, "it changed the key")
		}
	case checker.FalseRefusal:
		if did.before.there == did.after.there && did.before.ttl == did.after.ttl {
			v.wrong(c, "it changed nothing")
		}
	case checker.MetOwnKey:
		if x := v.res.Exchanges[first.Exchange]; x.First == "" && (!did.before.there || owner() != first.Client) {
			v.wrong(c, "it met no key of its own")
		}
	}
}

// outlived checks that the key by which a client held was gone when the last of the commands came.
func (v *verifier) outlived(c checker.Cause) {
	last := c.Commands[len(c.Commands)-1]
	if last.Key != c.Commands[0].Key {
		return
	}
	if b := v.played.did(last.Exchange, last.Key).before; b.there && v.res.Exchanges[b.by].Client == c.Commands[0].Client && v.res.Config.Threads == 0 {
		v.wrong(c, "the key was still there")
	}
}

// tellsInstant reports whether a command tells when a key ends, which means nothing on servers that
// were started at another time.
func tellsInstant(x histories.Exchange) bool {
	return slices.ContainsFunc(x.Words, func(w string) bool {
		n, err := strconv.ParseInt(w, 10, 64)
		return err == nil && n > epoch.UnixMilli() && n < epoch.UnixMilli()*2
	})
}

// nothingAsked checks that the call of a cause's events sent no command, or none on a key of the lock.
func (v *verifier) nothingAsked(c checker.Cause) {
	if len(c.Commands) > 0 {
		if words := v.res.Exchanges[c.Commands[0].Exchange].Words; slices.Contains(words, v.res.Events[c.Events[0]].Key) {
			v.wrong(c, "it asked for the key")
		}
		return
	}
	n := len(c.Events) - 2 // before them may be a fault
	from, to := v.res.Events[c.Events[n]], v.res.Events[c.Events[n+1]]
	for _, x := range v.res.Exchanges {
		if x.Client == histories.WorkerName(from.Worker) && x.Node != "register" && from.Time <= x.Sent && x.Sent <= to.Time && !strings.HasPrefix(x.Command, "HELLO") {
			v.wrong(c, "it sent "+x.Command)
		}
	}
}

func mentions(c checker.Cause) bool {
	return slices.ContainsFunc(c.Commands, func(cmd checker.CauseCommand) bool { return strings.Contains(c.Sentence, cmd.Command) }) || c.Kind == checker.Minority
}

func (v *verifier) hasFault(c checker.Cause) bool {
	return slices.ContainsFunc(c.Events, func(e int) bool {
		f := v.res.Events[e]
		return f.Process == histories.Nemesis && f.F != histories.Audit && !slices.Contains(nemesis.Faults(func(k nemesis.Kind) bool { return k.Client }), f.F)
	})
}

// shaken reports whether a fault may have changed what a server held.
func (v *verifier) shaken() bool {
	return slices.ContainsFunc(v.res.Events, func(e histories.Event) bool {
		return e.Process == histories.Nemesis && e.F != histories.Audit && e.F != "script-flush" && !slices.Contains(nemesis.Faults(func(k nemesis.Kind) bool { return k.Client }), e.F)
	})
}
