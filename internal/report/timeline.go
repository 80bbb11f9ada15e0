package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/words"
)

// A Row is one line of the timeline. Its texts are harmless to a terminal and short.
type Row struct {
	First, Last int // the events that it tells, by their indexes; both None if it tells of none
	At          time.Duration
	Who         string
	What        string
	Wire        []string // what crossed the wire for it
	Alarm       bool     // two clients believe that they hold the lock
	English     bool     // What is in English, whatever the language of the others: it has a sentence of the record
}

// None stands for an event in a row that tells of none.
const None = -1

// Mark names the row's events in the way in which verdicts do.
func (r Row) Mark() string {
	switch r.First {
	case None:
		return ""
	case r.Last:
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// manyRefusals is how many acquires in a row that came to the same are told as one line: all
// refused, or all with the same error.
const manyRefusals = 3

// A Timeline tells parts of a run in rows.
type Timeline struct {
	exchanges []histories.Exchange
	ops       []histories.Op
	belief    []histories.Hold
	byInvoke  map[int]histories.Op
	completes map[int]histories.Op
	keys      map[string]bool
	in        language.Language
}

// NewTimeline reads a run, in time linear in its length.
func NewTimeline(r Run) *Timeline {
	t := &Timeline{
		exchanges: r.Exchanges, belief: beliefs(r.Events), keys: keysOf(r.Events), in: r.Language,
		byInvoke: map[int]histories.Op{}, completes: map[int]histories.Op{},
	}
	t.ops, _ = histories.Pair(r.Events) // a history that does not pair is told as far as it does
	for _, o := range t.ops {
		t.byInvoke[o.Invoke.Index] = o
		if o.Done {
			t.completes[o.Complete.Index] = o
		}
	}
	return t
}

// Rows tells events, a part of the run's, in their order.
func (t *Timeline) Rows(events []histories.Event) []Row {
	if len(events) == 0 {
		return nil
	}
	l := &teller{Timeline: t.meanwhile(events), events: events}
	l.unasked = l.findUnasked()
	for i := 0; i < len(events); i++ {
		e := events[i]
		l.background(e.Time)
		n := l.refusals(i)
		if n <= manyRefusals {
			l.tell(i)
			continue
		}
		last := events[i+2*n-1]
		what := t.in.Sayf("tries to acquire %s, and is refused %d times until %s", show(e.Key), n, words.Instant(last.Time))
		if last.Type == histories.Info {
			what = t.in.Sayf("tries to acquire %s %d times until %s: outcome unknown, %s", show(e.Key), n, words.Instant(last.Time), t.in.Say(clean(last.Err)))
		}
		l.add(Row{First: e.Index, Last: last.Index, At: e.Time, Who: name(e), What: what})
		i += 2*n - 1
	}
	return l.rows
}

// meanwhile is the timeline without the calls and commands that were over before the events
// began, or began when they were over.
func (t *Timeline) meanwhile(events []histories.Event) Timeline {
	part := *t
	from, to := events[0].Time, events[len(events)-1].Time
	part.ops = nil
	for _, o := range t.ops {
		if o.Invoke.Time <= to && (!o.Done || o.Complete.Time >= from) {
			part.ops = append(part.ops, o)
		}
	}
	first, last := events[0].Index-1, events[len(events)-1].Index
	for _, o := range part.ops { // their commands too are told
		if o.Fault() || o.Invoke.Index < first || o.Invoke.Index > last {
			continue
		}
		from = min(from, o.Invoke.Time)
		if o.Done {
			to = max(to, o.Complete.Time)
		} else {
			to = forever
		}
	}
	part.exchanges = nil
	for _, x := range t.exchanges {
		if from <= x.Sent && x.Sent <= to {
			part.exchanges = append(part.exchanges, x)
		}
	}
	return part
}

// A teller tells some events.
type teller struct {
	Timeline
	events  []histories.Event
	unasked []histories.Exchange // not told yet
	rows    []Row
}

func (t *teller) add(r Row) { t.rows = append(t.rows, r) }

// refusals counts how many refused acquires of one client follow each other at i,
// undisturbed.
func (t *teller) refusals(i int) int {
	n := 0
	for ; i+1 < len(t.events); i += 2 {
		a, b := t.events[i], t.events[i+1]
		if a.F != histories.Acquire || a.Type != histories.Invoke || b.Attempt != a.Attempt || a.Worker != t.events[i-2*n].Worker {
			break
		}
		first := t.events[i-2*n+1]
		if b.Type != first.Type || b.Type != histories.Fail && (b.Type != histories.Info || b.Err != first.Err) {
			break
		}
		n++
	}
	return n
}

// tell tells the event at place i.
func (t *teller) tell(i int) {
	e := t.events[i]
	r := Row{First: e.Index, Last: e.Index, At: e.Time, Who: name(e), English: t.in.Name() != language.Language{}.Name() && foreign(e)}
	in := tongue(e, t.in)
	begun, isBegin := t.byInvoke[e.Index]
	ended, isEnd := t.completes[e.Index]
	switch {
	case isBegin && t.brief(begun):
		return // told at its end
	case isEnd && t.brief(ended):
		r.First = ended.Invoke.Index
	}
	switch {
	case e.Process == histories.Nemesis && !e.Single():
		r.What = fault(e, isEnd && !t.brief(ended))
	case isBegin:
		r.What, r.Wire = begins(e, in), t.wire(begun, t.next(i))
	case e.Single():
		r.What = single(e, in)
	default:
		r.What = ends(e, in)
		if isEnd && t.brief(ended) {
			r.Wire = t.wire(ended, forever)
		}
	}
	t.add(r)
	if e.F == histories.Acquire && e.Type == histories.OK {
		t.alarms(e)
	}
}

const forever = time.Duration(1<<63 - 1)

// next is the time of the event after place i.
func (t *teller) next(i int) time.Duration {
	if i+1 < len(t.events) {
		return t.events[i+1].Time
	}
	return forever
}

// brief reports whether nothing happened between an op's two events, so that one row tells
// both.
func (t *teller) brief(o histories.Op) bool {
	return o.Done && o.Complete.Index == o.Invoke.Index+1
}

// alarms tells who else believes to hold the lock when e grants it.
func (t *teller) alarms(e histories.Event) {
	mine := histories.Hold{Mode: t.completes[e.Index].Invoke.Mode(), Worker: e.Worker}
	for _, h := range t.belief {
		if h.Key != e.Key || h.Attempt == e.Attempt || h.Shares(mine) || h.Returned.Event > e.Index || !h.Open() && h.Ended.Event < e.Index {
			continue
		}
		other := histories.WorkerName(h.Worker)
		what := t.in.Sayf("%s and %s both believe that they hold %s", other, name(e), show(e.Key))
		if end := toldBy(h, e.Index); end > 0 && end <= e.Time {
			what += t.in.Sayf(", though %s's lease ended at %s", other, words.Instant(end))
		}
		t.add(Row{First: None, Last: None, At: e.Time, Who: "!!", What: what, Alarm: true})
	}
}

// toldBy is when the holder had been told, before an event, that its lease ends; 0 if it was not.
func toldBy(h histories.Hold, event int) time.Duration {
	d := h.Deadline
	for _, x := range h.Extends {
		if x.Deadline > 0 && x.Returned.Event < event {
			d = x.Deadline
		}
	}
	return d
}

func beliefs(events []histories.Event) []histories.Hold {
	return slices.DeleteFunc(histories.Holds(events), func(h histories.Hold) bool { return !h.Believed() })
}
