package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// excerpt is what a violation names of a history: all calls of its attempts, what else its
// witness names, the crashes of the clients concerned, and every fault.
func excerpt(events []histories.Event, res Result, attempts []uint64) []histories.Event {
	workers := map[int]bool{}
	for _, e := range events {
		if e.F == histories.Acquire && slices.Contains(attempts, e.Attempt) {
			workers[e.Worker] = true
		}
	}
	var kept []histories.Event
	for i, e := range events {
		named := slices.Contains(res.Witness, i)
		switch {
		case e.Process == histories.Nemesis && e.F != histories.Audit:
		case e.F == histories.Crash && workers[e.Worker]:
		case e.F == histories.Audit && named:
		case e.F == histories.Count && (named || e.Type == histories.Invoke && completed(events, i, res.Witness)):
		case e.F != histories.Count && e.Attempt != 0 && slices.Contains(attempts, e.Attempt):
		default:
			continue
		}
		e.Index = len(kept)
		kept = append(kept, e)
	}
	return kept
}

// completed reports whether the witness names the end of the call that begins at event i.
func completed(events []histories.Event, i int, witness []int) bool {
	for j := i + 1; j < len(events); j++ {
		if events[j].Process == events[i].Process {
			return slices.Contains(witness, j)
		}
	}
	return false
}

// judgeAlone judges an excerpt by the judge of one property.
func judgeAlone(t rapid.TB, p Property, events []histories.Event, opt Options) Verdict {
	t.Helper()
	opt.excerpt = true
	res, err := specOf(t, p).of(context.Background(), events, opt)
	if err != nil {
		t.Fatalf("%s cannot judge the excerpt: %v\n%s", p, err, show(events))
	}
	return res.Verdict
}

// of is what the judge says of a history, whatever it tests.
func (s spec) of(ctx context.Context, events []histories.Event, opt Options) (Result, error) {
	s.concerns = nil
	all := newStream(ctx, opt, []spec{s})
	for _, e := range events {
		_ = all.Add(e)
	}
	if err := all.divider.finish(); err != nil {
		return Result{}, err
	}
	res, err := all.judges[0].verdict(ctx, all.divider.record, opt)
	return res.Result, err
}

// specOf is the spec of one property.
func specOf(t rapid.TB, p Property) spec {
	t.Helper()
	all := allSpecs()
	i := slices.IndexFunc(all, func(s spec) bool { return s.property == p })
	if i < 0 {
		t.Fatalf("no judge of %s", p)
	}
	return all[i]
}

// pairwise are the properties that calls can only break and never mend, so that no attempt of
// their witnesses can be spared. Of the others, what did not happen is a part of the proof: a
// key that nobody held, a client that nobody else touched.
func pairwise() []Property {
	return []Property{StrictExclusion, LeaseExclusion, LeaseHonoured, Fencing, CounterSafety, SingleWinner}
}

// proven checks of every violation in a report that its attempts alone prove it, and that none
// of them can be spared where the judge allows that.
func proven(t rapid.TB, events []histories.Event, report Report, opt Options, most int) (violations int) {
	t.Helper()
	for _, res := range report.Results {
		if res.Verdict != Fail {
			if res.Witness != nil && res.Verdict == Pass || res.Attempts != nil || res.Window != nil {
				t.Errorf("%s is %v, and has witness %v, attempts %v and window %v", res.Property, res.Verdict, res.Witness, res.Attempts, res.Window)
			}
			continue
		}
		violations++
		if len(res.Witness) == 0 || res.Window == nil {
			t.Fatalf("%s fails with witness %v and window %v", res.Property, res.Witness, res.Window)
		}
		if w := res.Window; w.First > slices.Min(res.Witness) || w.Last < slices.Max(res.Witness) || w.Last >= len(events) ||
			w.From != events[w.First].Time || w.To != events[w.Last].Time {
			t.Errorf("%s: the window %+v does not frame %v", res.Property, *w, res.Witness)
		}
		part := excerpt(events, res, res.Attempts)
		if got := judgeAlone(t, res.Property, part, opt); got != Fail {
			t.Fatalf("attempts %v alone make %s %v: %s\nof\n%s", res.Attempts, res.Property, got, show(part), show(events))
		}
		if !slices.Contains(pairwise(), res.Property) {
			continue
		}
		if len(res.Attempts) > most && res.Property != LeaseHonoured { // of which a chain may be the proof
			t.Errorf("%s needs %d attempts: %v", res.Property, len(res.Attempts), res.Attempts)
		}
		for _, spared := range res.Attempts {
			fewer := slices.DeleteFunc(slices.Clone(res.Attempts), func(a uint64) bool { return a == spared })
			if part := excerpt(events, res, fewer); len(fewer) > 0 && judgeAlone(t, res.Property, part, opt) == Fail {
				t.Fatalf("%s fails without attempt %d of %v, too:\n%s", res.Property, spared, res.Attempts, show(part))
			}
		}
	}
	return violations
}

func TestWitnessesOfTheCorpus(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.file, func(t *testing.T) {
			events := script(t, s.history)
			opt := corpusOptions(s.file, events)
			proven(t, events, Check(t.Context(), events, opt), opt, 2)
		})
	}
}

// TestWitnessesOfRandomHistories looks at many histories of locks that are right now and then.
func TestWitnessesOfRandomHistories(t *testing.T) {
	n, seed := effort.Count(1_500, 6_000), uint64(20250103)
	violations := 0
	for i := range n {
		events := randomHistory(rand.New(rand.NewPCG(seed, uint64(i))))
		violations += proven(t, events, Check(t.Context(), events, Options{}), Options{}, 2)
		if t.Failed() {
			t.Fatalf("history %d of seed %d\n%s", i, seed, show(events))
		}
	}
	if t.Logf("%d violations in %d histories", violations, n); violations < n/10 {
		t.Error("too few to say anything")
	}
}

// A shop is a lock with what it protects, played by rapid: the register and the counter work,
// the lock is right, or not.
type shop struct {
	t       *rapid.T
	right   bool
	events  []histories.Event
	workers []*shopper
	process int
	attempt uint64

	holder   *shopper // as a lock that is right sees it
	token    int64
	version  int64
	number   int64
	reenters bool
}

type shopper struct {
	worker, process int
	attempt         uint64
	token           int64
	holds           []uint64
	worked          map[uint64]bool // which attempts incremented or drew: once is enough
}

func (s *shop) record(w *shopper, f histories.F, kind histories.Type, fill func(*histories.Event)) {
	e := histories.Event{
		Index: len(s.events), Time: time.Duration(len(s.events)) * time.Millisecond,
		Process: w.process, Worker: w.worker, Type: kind, F: f, Key: "k", Attempt: w.attempt,
	}
	if fill != nil {
		fill(&e)
	}
	s.events = append(s.events, e)
}

// call records a call that is answered at once, or whose outcome is unknown.
func (s *shop) call(w *shopper, f histories.F, key string, ask func(*histories.Event), answer func(*histories.Event)) {
	of := func(fill func(*histories.Event)) func(*histories.Event) {
		return func(e *histories.Event) {
			e.Key = key
			if fill != nil {
				fill(e)
			}
		}
	}
	s.record(w, f, histories.Invoke, of(ask))
	if s.luck(15, "no answer") {
		s.record(w, f, histories.Info, of(nil))
		w.process, s.process = s.process, s.process+1
		return
	}
	s.record(w, f, histories.OK, of(answer))
}

func (s *shop) luck(n int, what string) bool { return rapid.IntRange(0, n-1).Draw(s.t, what) == 0 }

func (s *shop) acquire(w *shopper) {
	s.attempt++
	w.attempt = s.attempt
	mode := histories.Exclusive
	if s.reenters {
		mode = histories.Reentrant
	}
	free := s.holder == nil || s.holder == w && mode == histories.Reentrant
	ask := func(e *histories.Event) { e.TTL, e.Value = time.Hour, string(mode) }
	if s.right && !free || !s.right && !free && s.luck(3, "refuse") {
		s.record(w, histories.Acquire, histories.Invoke, ask)
		s.record(w, histories.Acquire, histories.Fail, nil)
		w.attempt = 0
		if len(w.holds) > 0 {
			w.attempt = w.holds[len(w.holds)-1]
		}
		return
	}
	if s.right || !s.luck(4, "token") {
		s.token++
	}
	w.token, s.holder = s.token, w
	w.holds = append(w.holds, w.attempt)
	s.call(w, histories.Acquire, "k", ask, func(e *histories.Event) { e.Token, e.Deadline = w.token, e.Time+time.Hour })
}

func (s *shop) release(w *shopper) {
	last := len(w.holds) - 1
	w.attempt, w.holds = w.holds[last], w.holds[:last]
	if len(w.holds) == 0 && s.holder == w {
		s.holder = nil
	}
	if !s.right && s.luck(6, "denied") {
		s.record(w, histories.Release, histories.Invoke, nil)
		s.record(w, histories.Release, histories.Fail, nil)
	} else {
		s.call(w, histories.Release, "k", nil, func(*histories.Event) {})
	}
	if len(w.holds) > 0 {
		w.attempt = w.holds[len(w.holds)-1]
	}
}

func (s *shop) act(w *shopper) {
	if len(w.holds) == 0 || s.reenters && len(w.holds) < 3 && s.luck(3, "again") {
		s.acquire(w)
		return
	}
	what := rapid.IntRange(0, 5).Draw(s.t, "what")
	if what < 2 && s.reenters {
		what = 4 // its sections would overwrite their own
	}
	if (what == 2 || what == 3 && !s.reenters) && w.worked[w.attempt] {
		what = 4
	}
	if what == 2 || what == 3 {
		w.worked[w.attempt] = true
	}
	switch what {
	case 0:
		s.call(w, histories.Read, "r", nil, func(e *histories.Event) { e.Version, e.Token = s.version, w.token })
	case 1:
		s.call(w, histories.Write, "r", nil, func(e *histories.Event) { e.Version, e.Token = s.version, w.token })
		s.version++
	case 2:
		old := s.number
		if !s.right && s.luck(3, "stale") {
			old = max(0, old-int64(rapid.IntRange(0, 3).Draw(s.t, "by")))
		}
		s.number = old + 1
		s.call(w, histories.Incr, "n", nil, func(e *histories.Event) { e.Value = strconv.FormatInt(s.number, 10) })
	case 3:
		if s.reenters {
			n := len(w.holds)
			if !s.right && s.luck(3, "miscount") {
				n += rapid.IntRange(-2, 2).Draw(s.t, "by")
			}
			s.call(w, histories.Count, "k", nil, func(e *histories.Event) { e.Value = strconv.Itoa(n) })
			return
		}
		round := 1 + s.version/2
		if s.right {
			round = s.version + 1
		}
		s.call(w, histories.Draw, "r", func(e *histories.Event) { e.Value = fmt.Sprint(round) },
			func(e *histories.Event) { e.Version, e.Value = s.version, fmt.Sprint(round) })
		s.version++
	default:
		s.release(w)
	}
}

func drawShop(t *rapid.T, right bool) []histories.Event {
	s := &shop{t: t, right: right, reenters: rapid.Bool().Draw(t, "re-entrant")}
	for i := range 3 {
		s.workers = append(s.workers, &shopper{worker: i, process: i, worked: map[uint64]bool{}})
	}
	s.process = 3
	for range rapid.IntRange(4, 40).Draw(t, "steps") {
		s.act(s.workers[rapid.IntRange(0, 2).Draw(t, "who")])
	}
	return s.events
}

// A lock that is right has nothing to prove against it; what is found of one that is not is
// proven by its attempts alone.
func TestWitnessesOfShops(t *testing.T) {
	shops := func(right bool) *rapid.Generator[[]histories.Event] {
		return rapid.Custom(func(r *rapid.T) []histories.Event { return drawShop(r, right) })
	}
	bad, good := shops(false), shops(true)
	rapid.Check(t, func(r *rapid.T) {
		events := bad.Draw(r, "history")
		proven(r, events, Check(context.Background(), events, Options{}), Options{}, 2)
	})
	rapid.Check(t, func(r *rapid.T) {
		events := good.Draw(r, "history")
		report := Check(context.Background(), events, Options{})
		for _, res := range report.Results {
			if res.Verdict == Fail || len(report.HarnessErrors) > 0 {
				r.Fatalf("accused: %+v %q\n%s", res, report.HarnessErrors, show(events))
			}
		}
		proven(r, events, report, Options{}, 2)
	})

	// What the two above look at is not nothing.
	seen := map[Property]int{}
	for i := range 300 {
		events := bad.Example(i)
		report := Check(t.Context(), events, Options{})
		proven(t, events, report, Options{}, 2)
		for _, res := range report.Results {
			if res.Verdict == Fail {
				seen[res.Property]++
			}
		}
	}
	t.Log(seen)
	for _, p := range []Property{StrictExclusion, ResourceSafety, Fencing, CounterSafety, SingleWinner, Reentrancy, TruthfulReplies} {
		if seen[p] == 0 {
			t.Errorf("%s never failed", p)
		}
	}
}
