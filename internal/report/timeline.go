package report

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/story"
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
	story *story.Story
	in    language.Language
}

// NewTimeline returns the timeline of a run. Of a history that does not pair it tells as much as does.
func NewTimeline(r Run) *Timeline { return &Timeline{story: r.Story(), in: r.Language} }

// Rows tells events, a part of the run's, in their order.
func (t *Timeline) Rows(events []histories.Event) []Row {
	if len(events) == 0 {
		return nil
	}
	l := &teller{Timeline: *t, events: events, unasked: t.story.Unasked(events[0].Time, events[len(events)-1].Time)}
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
	o, known := t.story.Operation(e.Index)
	begins, ends := known && o.Invoke.Index == e.Index, known && o.Invoke.Index != e.Index
	switch {
	case begins && atOnce(o):
		return // told at its end
	case ends && atOnce(o):
		r.First = o.Invoke.Index
	}
	switch {
	case e.Process == histories.Nemesis && !e.Single():
		r.What = fault(e, ends && !atOnce(o))
	case begins:
		r.What, r.Wire = begun(e, in), t.wire(o, t.next(i))
	case e.Single():
		r.What = single(e, in)
	default:
		r.What = ended(e, in)
		if ends && atOnce(o) {
			r.Wire = t.wire(o, forever)
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

// atOnce reports whether nothing happened between an operation's two events, so that one row tells both.
func atOnce(o histories.Op) bool { return o.Done && o.Complete.Index == o.Invoke.Index+1 }

// alarms tells who else believes to hold the lock when e grants it.
func (t *teller) alarms(e histories.Event) {
	for _, m := range t.story.Meetings(e.Index) {
		other := m.Holder.Client()
		what := t.in.Sayf("%s and %s both believe that they hold %s", other, name(e), show(e.Key))
		if m.Lapsed > 0 {
			what += t.in.Sayf(", though %s's lease ended at %s", other, words.Instant(m.Lapsed))
		}
		t.add(Row{First: None, Last: None, At: e.Time, Who: "!!", What: what, Alarm: true})
	}
}
