package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// row is one line of the timeline.
type row struct {
	mark  string // the events that it tells, by their indexes
	at    time.Duration
	who   string
	what  string
	wire  []string // what crossed the wire for it
	alarm bool     // two clients believe that they hold the lock
}

// manyRefusals is how many refused acquires in a row are told as one line.
const manyRefusals = 3

// timeline tells events, a part of history, in rows and in their order.
func timeline(history, events []histories.Event, exchanges []histories.Exchange) []row {
	t := &teller{
		events: events, exchanges: exchanges, belief: beliefs(history),
		byInvoke: map[int]histories.Op{}, completes: map[int]histories.Op{},
	}
	ops, _ := histories.Pair(history) // a history that does not pair is told as far as it does
	for _, o := range ops {
		t.byInvoke[o.Invoke.Index] = o
		if o.Done {
			t.completes[o.Complete.Index] = o
		}
	}
	for i := 0; i < len(events); i++ {
		e := events[i]
		n := t.refusals(i)
		if n <= manyRefusals {
			t.tell(i)
			continue
		}
		last := events[i+2*n-1]
		t.add(row{mark: marks(e.Index, last.Index), at: e.Time, who: name(e), what: fmt.Sprintf("tries to acquire %s, and is refused %d times until %s",
			show(e.Key), n, seconds(last.Time))})
		i += 2*n - 1
	}
	return t.rows
}

// marks names events in the way in which verdicts do.
func marks(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

type teller struct {
	events    []histories.Event
	exchanges []histories.Exchange
	belief    []histories.Hold
	byInvoke  map[int]histories.Op
	completes map[int]histories.Op
	rows      []row
}

func (t *teller) add(r row) { t.rows = append(t.rows, r) }

// refusals counts how many refused acquires of one client follow each other at i,
// undisturbed.
func (t *teller) refusals(i int) int {
	n := 0
	for ; i+1 < len(t.events); i += 2 {
		a, b := t.events[i], t.events[i+1]
		if a.F != histories.Acquire || a.Type != histories.Invoke || b.Type != histories.Fail || b.Attempt != a.Attempt || a.Worker != t.events[i-2*n].Worker {
			break
		}
		n++
	}
	return n
}

// tell tells the event at place i.
func (t *teller) tell(i int) {
	e := t.events[i]
	r := row{mark: marks(e.Index, e.Index), at: e.Time, who: name(e)}
	begun, isBegin := t.byInvoke[e.Index]
	ended, isEnd := t.completes[e.Index]
	switch {
	case isBegin && t.brief(begun):
		return // told at its end
	case isEnd && t.brief(ended):
		r.mark = marks(ended.Invoke.Index, e.Index)
	}
	switch {
	case e.Process == histories.Nemesis && e.F != histories.Audit:
		r.what = fault(e, isEnd && !t.brief(ended))
	case isBegin:
		r.what, r.wire = begins(e), t.wire(begun, t.next(i))
	case e.Single():
		r.what = single(e)
	default:
		r.what = ends(e)
		if isEnd && t.brief(ended) {
			r.wire = t.wire(ended, forever)
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

// brief says that nothing happened between an op's two events, so that one row tells
// both.
func (t *teller) brief(o histories.Op) bool {
	return o.Done && o.Complete.Index == o.Invoke.Index+1
}

// fault tells a fault's start or end; over says that its start was told before.
func fault(e histories.Event, over bool) string {
	what := strings.TrimSpace(show(string(e.F)) + " " + show(e.Node))
	switch {
	case e.Type == histories.Fail || e.Type == histories.Info:
		what += " failed: " + show(e.Err)
	case over:
		what += " is over"
	}
	if e.Value != "" {
		what += ": " + show(e.Value)
	}
	return what
}

// alarms tells who else believes to hold the lock when e grants it.
func (t *teller) alarms(e histories.Event) {
	for _, h := range t.belief {
		if h.Key != e.Key || h.Attempt == e.Attempt || h.Returned.Event > e.Index || !h.Open() && h.Ended.Event < e.Index {
			continue
		}
		other := histories.WorkerName(h.Worker)
		what := fmt.Sprintf("%s and %s both believe that they hold %s", other, name(e), show(e.Key))
		if h.Deadline > 0 && h.Deadline <= e.Time {
			what += fmt.Sprintf(", though %s's lease ended at %s", other, seconds(h.Deadline))
		}
		t.add(row{at: e.Time, who: "!!", what: what, alarm: true})
	}
}

func beliefs(events []histories.Event) []histories.Hold {
	return slices.DeleteFunc(histories.Holds(events), func(h histories.Hold) bool { return !h.Believed() })
}

// wire tells the commands that an op sent, and their replies. A reply that came after
// the instant told, at which the timeline goes on, is told with its time.
func (t *teller) wire(o histories.Op, told time.Duration) []string {
	end := forever
	if o.Done {
		end = o.Complete.Time
	}
	who := histories.WorkerName(o.Invoke.Worker)
	register := o.Invoke.F == histories.Read || o.Invoke.F == histories.Write
	type group struct {
		command, reply string
		nodes          []string
	}
	var groups []group
	for _, x := range t.exchanges {
		if x.Client != who || x.Sent < o.Invoke.Time || x.Sent >= end || setup(x.Command) {
			continue
		}
		if register && x.Node != "register" && !strings.HasPrefix(x.Command, "GET") {
			continue
		}
		reply := x.Reply
		if reply != "" && x.Replied > told {
			reply += " at " + seconds(x.Replied)
		}
		if x.Note != "" {
			reply = strings.TrimSuffix(x.Note+": "+reply, ": ")
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.command == x.Command && g.reply == reply })
		if at < 0 {
			groups = append(groups, group{x.Command, reply, nil})
			at = len(groups) - 1
		}
		groups[at].nodes = append(groups[at].nodes, x.Node)
	}
	var lines []string
	for _, g := range groups {
		slices.Sort(g.nodes)
		line := fmt.Sprintf("→ %s: %s", show(strings.Join(g.nodes, " ")), show(g.command))
		if g.reply != "" {
			line += "  " + show(g.reply)
		}
		lines = append(lines, line)
	}
	return lines
}

// setup says that a command belongs to opening a connection and not to the lock.
func setup(command string) bool {
	return strings.HasPrefix(command, "HELLO ") || strings.HasPrefix(command, "CLIENT ") || strings.HasPrefix(command, "AUTH ")
}

func begins(e histories.Event) string {
	switch e.F {
	case histories.Acquire:
		return "acquires " + show(e.Key) + " …"
	case histories.Release:
		return "releases " + show(e.Key) + " …"
	case histories.Read:
		return "reads the register …"
	case histories.Write:
		return "writes " + show(e.Value) + " to the register …"
	}
	return strings.TrimSpace(show(string(e.F))+" "+show(e.Key)) + " …"
}

func ends(e histories.Event) string {
	what := ""
	switch e.F {
	case histories.Acquire:
		what = "acquires " + show(e.Key)
		if e.Type == histories.OK {
			if e.Deadline > 0 {
				what += ", lease until " + seconds(e.Deadline)
			}
			if e.Token > 0 {
				what += fmt.Sprintf(", token %d", e.Token)
			}
		}
	case histories.Release:
		what = "releases " + show(e.Key)
	case histories.Read:
		what = "reads the register"
		if e.Type == histories.OK {
			what += fmt.Sprintf(": %s (version %d)", show(e.Value), e.Version)
		}
	case histories.Write:
		what = "writes " + show(e.Value) + " to the register"
		if e.Type == histories.OK {
			what += fmt.Sprintf(" over version %d", e.Version)
		}
	default:
		what = strings.TrimSpace(show(string(e.F)) + " " + show(e.Key))
	}
	switch e.Type {
	case histories.Fail:
		what += ": refused, " + show(e.Err)
	case histories.Info:
		what += ": outcome unknown, " + show(e.Err)
	}
	return what
}

func single(e histories.Event) string {
	switch e.F {
	case histories.Crash:
		return "crashes"
	case histories.Lost:
		return "is told that its lease is lost"
	case histories.Abandon:
		return "walks away without releasing"
	case histories.Audit:
		if e.TTL == histories.NoTTL {
			return fmt.Sprintf("%s still holds %s, without any TTL", show(e.Node), show(e.Key))
		}
		return fmt.Sprintf("%s still holds %s, for another %s", show(e.Node), show(e.Key), seconds(e.TTL))
	}
	return show(string(e.F))
}

func name(e histories.Event) string {
	if e.F == histories.Audit {
		return "audit"
	}
	return histories.WorkerName(e.Worker)
}

// seconds shows an instant or a duration with milliseconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
