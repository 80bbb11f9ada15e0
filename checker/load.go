package checker

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// What a client that waits for a lock may cost.
const (
	// MostLoad is how many commands per second are too many. A client that polls ten times
	// a second stays far below it, with a lock of five servers too; one that waits for a
	// round trip between two tries, and for nothing else, sends thousands.
	MostLoad = 100
	// shortestWait is the shortest wait that is judged: before it the acquire of a free lock
	// weighs as much as the waiting.
	shortestWait = 100 * time.Millisecond
)

// Load is what judgeLoad judges.
const Load Property = "load"

func loadSpec() spec {
	return spec{
		property:   Load,
		definition: "a client that waits for a tenth of a second or more sends at most 100 commands a second, or as many as the promised interval allows (runs that count them)",
		judge:      judgeLoad,
		concerns:   waits,
		engine:     "commands per waiting second",
		counts:     []histories.F{histories.Waited},
	}
}

// judgeLoad judges what waiting costs the lock's servers, by the number of commands that crossed
// the wire to them on the client's connections from an acquire's invocation to its return,
// whatever came of it, as the history has it (histories.Waited); set-up of connections counts.
//
// Of a lock that promises an interval between two tries (Options.Poll) a wait may cost
// twice as many commands as the lock has masters, for each interval that fits into it and for two more
// tries: one command to take the lock and one to look or to clean up.
//
// Of any other no wait may cost more than MostLoad commands for each second. Where the time
// of each command is known (Options.Commands), time in which one was under way does not count
// as waiting, or a slow machine would acquit whoever sends the next command as soon as it
// has a reply. The time of a command that blocks on the server does count. A wait of fewer than
// a tenth of MostLoad in each second of the clock is always well.
//
// Waits of less than a tenth of a second are not judged, and time in which lockbench or the machine
// stood still does not count: who cannot run cannot spin. It is Unknown if there was no other.
func judgeLoad(_ *record, opt Options) judge { return &load{opt: opt} }

type load struct {
	opt                 Options
	waited, longest     time.Duration
	sent, judged, heavy int
	worst               float64
	proof               conflict
}

func (l *load) observe(_ context.Context, s *stretch) error {
	ops := make(map[uint64]*histories.Op)
	for _, o := range s.calls {
		if o.Invoke.F == histories.Acquire && o.Done {
			ops[o.Invoke.Attempt] = o
		}
	}
	for _, e := range s.singles {
		if e.F != histories.Waited {
			continue
		}
		commands, err := strconv.Atoi(e.Value)
		if err != nil || commands < 0 {
			return fmt.Errorf("event %d: a wait sent %q commands, want a number", e.Index, e.Value)
		}
		if o := ops[e.Attempt]; o != nil {
			l.wait(s, o, e, commands)
		}
	}
	return nil
}

// wait judges what one wait cost.
func (l *load) wait(s *stretch, o *histories.Op, e histories.Event, commands int) {
	from, to := o.Invoke.Time, o.Complete.Time
	stood := s.stood(from, to)
	if to-from-stood < shortestWait {
		l.longest = max(l.longest, to-from)
		return
	}
	l.judged, l.sent, l.waited = l.judged+1, l.sent+commands, l.waited+to-from
	rate, told := l.opt.tooMany(e.Worker, commands, from, to, stood)
	if told == "" {
		return
	}
	if l.heavy++; rate > l.worst {
		l.worst = rate
		l.proof = conflict{}
		l.proof.witness = []int{o.Invoke.Index, o.Complete.Index, e.Index}
		l.proof.story = fmt.Sprintf("%s waited for %s from %s to %s and sent %d commands meanwhile: %s.",
			histories.WorkerName(e.Worker), e.Key, words.Seconds(from), words.Seconds(to), commands, told)
		s.draw(&l.proof)
	}
}

func (l *load) verdict(res *finding) error {
	if l.judged == 0 {
		res.Story = fmt.Sprintf("Nobody waited for %s or more, so what waiting costs was not seen; the longest wait took %s.", words.Seconds(shortestWait), words.Seconds(l.longest))
		return nil
	}
	res.Verdict = Pass
	if l.heavy > 0 {
		res.prove(&l.proof, l.proof.story)
	}
	told := fmt.Sprintf("%s took %s together and cost %d commands, %.0f for each second.", words.Count(l.judged, "wait"), words.Seconds(l.waited), l.sent, float64(l.sent)/l.waited.Seconds())
	res.Story = paragraph(l.proof.story, told)
	return nil
}

// stood is for how long, between two times, lockbench or the machine stood still. Time of which two events tell counts once.
func (r *record) stood(from, to time.Duration) (all time.Duration) {
	for _, e := range r.Incidents {
		if e.F == histories.Stall && e.Err == "" { // one with an error tells of others again
			all += max(0, min(e.Time, to)-max(e.Time-e.TTL, from))
			from = max(from, min(e.Time, to))
		}
	}
	return all
}

// tooMany tells why a wait of a worker, less the time for which everything stood still, cost too many
// commands, and by how much; "" if it did not.
func (o Options) tooMany(worker, commands int, from, to, stood time.Duration) (rate float64, why string) {
	took := to - from - stood
	if o.Poll > 0 {
		most := 2 * max(o.Masters, 1) * (int(took/o.Poll) + 2)
		if commands <= most {
			return 0, ""
		}
		return float64(commands) / float64(most),
			fmt.Sprintf("with %s between two tries, as the lock promises, %d are enough", words.Seconds(o.Poll), most)
	}
	rate = float64(commands) / took.Seconds()
	if rate > MostLoad {
		return rate, fmt.Sprintf("%.0f in a second, and more than %d are too many", rate, MostLoad)
	}
	idle := min(took, to-from-o.Commands.underWay(worker, from, to))
	if idle >= took || rate < MostLoad/10 {
		return 0, ""
	}
	if rate = float64(commands) / max(idle, time.Millisecond).Seconds(); rate <= MostLoad {
		return 0, ""
	}
	return rate, fmt.Sprintf("for all but %s of that time one was under way, which is %.0f in a second of waiting, and more than %d are too many",
		words.Seconds(idle), rate, MostLoad)
}

// waits concerns histories that say what waiting cost.
func waits(rec *record) bool {
	return rec.Tallies[histories.Waited].Events > 0
}
