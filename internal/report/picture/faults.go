package picture

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

// faults draws what went wrong, on a lane of its own and over the lanes that it concerns.
func (b *builder) faults() {
	for _, x := range b.run.Exchanges {
		if x.Sent >= b.from && x.Sent <= b.to && x.Node != story.Register && b.drawnClient(x.Client) && !story.Setup(x) {
			b.node(x.Node)
		}
	}
	for _, o := range b.ops {
		if o.Fault() {
			b.fault(story.Fault{Op: o})
		}
	}
	for _, e := range singles(b.events) {
		if e.F == histories.Audit && e.Node != "" {
			l := b.node(e.Node)
			l.marks = append(l.marks, &mark{row: tickRow, class: "tick audit", from: e.Time, to: e.Time, label: b.in.Sayf("still holds %s", brief(e.Key, 28)),
				title: b.telling(e, e, true), event: e.Index, last: -1, who: "audit", key: keyName(e.Key), f: string(e.F)})
		}
	}
}

// faultsName is the name of the lane of faults.
const faultsName = "faults"

// few reports whether there are so few faults that each may tell its effect.
func (b *builder) few() bool {
	n := 0
	for _, o := range b.ops {
		if o.Fault() {
			n++
		}
	}
	return n <= maxLevels
}

// drawnClient reports whether a client has a lane.
func (b *builder) drawnClient(name string) bool { return b.byName[fmt.Sprint(clientLane, name)] != nil }

func (b *builder) node(name string) *lane {
	l := b.lane(nodeLane, name)
	l.sub = b.in.Say("lock server")
	return l
}

func (b *builder) fault(o story.Fault) {
	e := o.Invoke
	l := b.lane(faultLane, faultsName)
	name := strings.TrimSpace(brief(string(e.F), 24) + " " + brief(e.Node, 24))
	from, to, told := b.clip(e.Time), b.to, e
	last := -1
	if o.Done {
		told, last = o.Complete, o.Complete.Index
	}
	if o.Over() {
		to = b.clip(o.Complete.Time)
	}
	class := "fault"
	if from == to {
		class += " instant"
	}
	if o.Failed() {
		class += " failed"
		name += b.in.Say(" failed")
	}
	title := b.telling(e, e, true)
	if told.Index != e.Index {
		title += "\n" + b.telling(told, told, true)
	}
	if effect := o.Effect(); effect != "" && b.few() {
		name += ": " + brief(effect, 90)
	}
	l.marks = append(l.marks, &mark{row: holdRow, class: class, from: from, to: to, label: name,
		title: title, event: e.Index, last: last, who: "nemesis", f: string(e.F)})
	on := b.known(e.Node)
	if on == nil && e.Node != "" && !b.clientName(e.Node) {
		on = b.node(e.Node)
	}
	if on != nil {
		on.bands = append(on.bands, &mark{class: class + " " + bandClass(e.F), from: from, to: to, label: brief(string(e.F), 24), title: title,
			event: e.Index, last: last, who: "nemesis", f: string(e.F)})
	}
	if e.F == "kill" && o.Done && !o.Failed() && on != nil {
		on.bands = append(on.bands, &mark{class: "dead", from: from, to: b.backAgain(e.Node, o.Complete), title: b.in.Sayf("%s is dead", on.name),
			event: e.Index, last: -1, who: "nemesis", f: string(e.F)})
	}
}

// bandClass tells faults apart that stop somebody from those that do not.
func bandClass(f histories.F) string {
	if f == "pause" || f == "stall" {
		return "still"
	}
	return ""
}

// backAgain is when a killed server came back, or the end of the picture.
func (b *builder) backAgain(node string, killed histories.Event) (t time.Duration) {
	for _, e := range b.events {
		if e.Process == histories.Nemesis && e.Node == node && e.Index > killed.Index && strings.HasPrefix(string(e.F), "restart") && e.Type == histories.OK {
			return b.clip(e.Time)
		}
	}
	return b.to
}

// clientName reports whether a fault's node is a client without a lane.
func (b *builder) clientName(name string) bool {
	_, number, _ := strings.Cut(name, " ")
	n, err := strconv.Atoi(number)
	return len(name) == 1 && name[0] >= 'A' && name[0] <= 'Z' || err == nil && name == histories.WorkerName(n-1) || strings.Contains(name, ",")
}
