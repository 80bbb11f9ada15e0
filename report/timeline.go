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
	at    time.Duration
	who   string
	what  string
	wire  string // what crossed the wire for it
	alarm bool   // two clients believe that they hold the lock
}

// manyRefusals is how many refused acquires in a row are told as one line.
const manyRefusals = 3

// timeline tells a history in rows, in the order of its events.
func timeline(events []histories.Event, exchanges []histories.Exchange) []row {
	t := &teller{events: events, exchanges: exchanges, belief: beliefs(events)}
	ops, _ := histories.Pair(events) // a history that does not pair is told as far as it does
	t.byInvoke = map[int]histories.Op{}
	for _, o := range ops {
		t.byInvoke[o.Invoke.Index] = o
	}
	t.completes = map[int]histories.Op{}
	for _, o := range ops {
		if o.Done {
			t.completes[o.Complete.Index] = o
		}
	}
	for i := 0; i < len(events); i++ {
		if n := t.refusals(i); n > manyRefusals {
			last := events[i+2*n-1]
			t.add(row{at: events[i].Time, who: name(events[i]), what: fmt.Sprintf("tries to acquire %s, and is refused %d times until %s",
				show(events[i].Key), n, seconds(last.Time))})
			i += 2*n - 1
			continue
		}
		t.tell(events[i])
	}
	return t.rows
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

func (t *teller) tell(e histories.Event) {
	if e.Process == histories.Nemesis && e.F != histories.Audit {
		t.fault(e)
		return
	}
	op, invoked := t.byInvoke[e.Index]
	switch {
	case invoked && t.brief(op):
		return // told at its end
	case invoked:
		t.add(row{at: e.Time, who: name(e), what: begins(e), wire: t.wire(op)})
	case e.Type == histories.Info && e.Single():
		t.add(row{at: e.Time, who: name(e), what: single(e)})
	default:
		r := row{at: e.Time, who: name(e), what: ends(e)}
		if op, ok := t.completes[e.Index]; ok && t.brief(op) {
			r.wire = t.wire(op)
		}
		t.add(r)
		if e.F == histories.Acquire && e.Type == histories.OK {
			t.alarms(e)
		}
	}
}

// brief says that nothing happened between an op's two events, so that one row tells
// both.
func (t *teller) brief(o histories.Op) bool {
	return o.Done && o.Complete.Index == o.Invoke.Index+1
}

func (t *teller) fault(e histories.Event) {
	what := strings.TrimSpace(string(e.F) + " " + show(e.Node))
	op, begun := t.byInvoke[e.Index]
	switch {
	case begun && t.brief(op):
		return // told at its end
	case e.Type == histories.Invoke:
	case e.Type == histories.OK:
		if o, ok := t.completes[e.Index]; !ok || !t.brief(o) {
			what += " is over"
		}
	default:
		what += " failed: " + show(e.Err)
	}
	if e.Value != "" {
		what += ": " + show(e.Value)
	}
	t.add(row{at: e.Time, who: name(e), what: what})
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

// wire tells the commands that an op sent, and their replies.
func (t *teller) wire(o histories.Op) string {
	end := time.Duration(1<<63 - 1)
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
		if x.Note != "" {
			reply = strings.TrimSpace(x.Note + " " + reply)
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.command == x.Command && g.reply == reply })
		if at < 0 {
			groups = append(groups, group{x.Command, reply, nil})
			at = len(groups) - 1
		}
		groups[at].nodes = append(groups[at].nodes, x.Node)
	}
	parts := make([]string, len(groups))
	for i, g := range groups {
		parts[i] = fmt.Sprintf("→ %s: %s", strings.Join(g.nodes, " "), g.command)
		if g.reply != "" {
			parts[i] += "  " + g.reply
		}
	}
	return strings.Join(parts, "  ")
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
	return string(e.F) + " …"
}

func ends(e histories.Event) string {
	what := ""
	switch e.F {
	case histories.Acquire:
		what = "acquires " + show(e.Key)
		if e.Type == histories.OK {
			if e.Deadline > 0 {
				what += ", told that its lease ends at " + seconds(e.Deadline)
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
			what += fmt.Sprintf(", replacing version %d", e.Version)
		}
	default:
		what = string(e.F) + " " + show(e.Key)
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
	return string(e.F)
}

func name(e histories.Event) string {
	if e.F == histories.Audit {
		return "audit"
	}
	return histories.WorkerName(e.Worker)
}

// seconds shows an instant or a duration with milliseconds.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// show makes a string from outside harmless to a terminal and short.
func show(s string) string {
	const most = 120
	var b strings.Builder
	for i, r := range s {
		if i >= most {
			b.WriteString("…")
			break
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' || r == '\ufffd' {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
