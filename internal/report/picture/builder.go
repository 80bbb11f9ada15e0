package picture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/story"
)

// A builder makes the marks of a scene from what is known of a run.
type builder struct {
	in       language.Language
	run      report.Run
	events   []histories.Event // those that are drawn
	drawn    map[int]bool      // by index
	ops      []histories.Op    // those of which an event is drawn
	story    *story.Story
	many     bool // more than one key
	from, to time.Duration
	end      time.Duration
	byName   map[string]*lane
	all      []*lane
	spans    []span // beliefs that are drawn

	clientLanes map[int]bool // workers that have one
	left        []string     // what is left out, in words
	grants      map[grant][]time.Duration
}

// A span is a belief as it is drawn.
type span struct {
	belief   story.Belief
	from, to time.Duration
	mark     *mark
}

func newBuilder(r report.Run, events []histories.Event) *builder {
	b := &builder{in: r.Language, run: r, story: r.Story(), events: events, drawn: make(map[int]bool, len(events)), byName: map[string]*lane{}}
	b.many = len(story.Of(events, nil).Keys()) > 1
	b.from, b.to = events[0].Time, events[0].Time
	for _, e := range events {
		b.drawn[e.Index] = true
		b.from, b.to = min(b.from, e.Time), max(b.to, e.Time)
	}
	for _, o := range b.story.Operations() {
		meanwhile := o.Fault() && o.Invoke.Time <= b.from && (!o.Done || o.Complete.Time >= b.from)
		if b.drawn[o.Invoke.Index] || o.Done && b.drawn[o.Complete.Index] || meanwhile {
			b.ops = append(b.ops, o)
		}
	}
	b.choose()
	b.end = b.to
	return b
}

// mostClients is how many clients have a lane.
const mostClients = 24

// choose chooses the clients that are drawn: those that violations name, and then those that
// do most.
func (b *builder) choose() {
	weight := map[int]int{}
	for _, e := range b.events {
		if e.Process != histories.Nemesis {
			weight[e.Worker]++
		}
	}
	for _, res := range report.Proven(b.run.Results) {
		for _, index := range res.Witness {
			if i := place(b.run.Events, index); i >= 0 && b.drawn[index] && weight[b.run.Events[i].Worker] > 0 {
				weight[b.run.Events[i].Worker] += len(b.events)
			}
		}
	}
	workers := slices.Collect(maps.Keys(weight))
	slices.SortFunc(workers, func(x, y int) int { return cmp.Or(weight[y]-weight[x], x-y) })
	b.clientLanes = map[int]bool{}
	for _, w := range workers[:min(len(workers), mostClients)] {
		b.clientLanes[w] = true
		b.client(w)
	}
	if more := len(workers) - mostClients; more > 0 {
		b.left = append(b.left, b.in.Sayf("%s have no lane", b.in.Count(more, "more client")))
	}
}

// lane is the lane of that kind and name.
func (b *builder) lane(k kind, name string) *lane {
	id := fmt.Sprint(k, name)
	if l := b.byName[id]; l != nil {
		return l
	}
	l := &lane{kind: k, name: name}
	b.byName[id] = l
	b.all = append(b.all, l)
	return l
}

// known is the client's or server's lane of that name, or nil.
func (b *builder) known(name string) *lane {
	for _, k := range []kind{clientLane, nodeLane, registerLane} {
		if l := b.byName[fmt.Sprint(k, name)]; l != nil {
			return l
		}
	}
	return nil
}

// clip is t, or the edge of the picture beyond which it is.
func (b *builder) clip(t time.Duration) time.Duration { return min(max(t, b.from), b.to) }

// lanes are in the order in which they are drawn.
func (b *builder) lanes() []*lane {
	all := slices.Clone(b.all)
	slices.SortStableFunc(all, func(x, y *lane) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.number(), y.number()), cmp.Compare(x.name, y.name))
	})
	return all
}

// number sorts names that end in one by it.
func (l *lane) number() int {
	if l.kind == clientLane {
		if len(l.name) == 1 {
			return int(l.name[0])
		}
	}
	n := 0
	if _, digits, ok := strings.Cut(l.name, " "); ok {
		fmt.Sscan(digits, &n) //nolint:errcheck // a name without a number sorts by its letters
		return 1000 + n
	}
	if i := strings.IndexAny(l.name, "0123456789"); i >= 0 {
		fmt.Sscan(l.name[i:], &n) //nolint:errcheck // as above
	}
	return n
}
