package checker

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// CounterSafety is what judgeCounter judges.
const CounterSafety Property = "counter-safety"

func counterSafetySpec() spec {
	return spec{
		property:   CounterSafety,
		definition: "a shared counter shows every increment that was accepted (workload increment)",
		judge:      judgeCounter,
		concerns:   calls(histories.Incr),
		engine:     "interval bounds",
		counts:     []histories.F{histories.Incr},
	}
}

// judgeCounter judges counter safety: no increment of a protected counter is lost.
//
// An increment tells the number that it brought the counter to, a read the number that it
// saw. Every accepted increment counts one, so
//
//  1. no two accepted increments bring the counter to the same number, and
//  2. a read sees at least as many as were accepted before it was invoked, and at least
//     the number that any of those brought the counter to; and an increment finds so many.
//
// If a read sees fewer than were accepted before it, and no two of those brought the counter to
// the same number, one of them brought it to a higher number than was seen. So two calls
// always prove a violation.
//
// An increment of unknown outcome may count or not; one that was refused does not. To see
// more than all increments that may have taken effect by then, less than none, or no number,
// means that the counter itself is broken. That is an error of the harness, not of the lock.
//
// The verdict is Pass only if somebody accessed each counter after the last increment that
// was accepted, or the last ones could be lost unseen.
func judgeCounter(*record, Options) judge { return &counters{known: make(tallies)} }

type counters struct {
	known    tallies
	accepted int
	conflict conflicts
}

// A tally is what is known of a counter by the end of a stretch.
type tally struct {
	accepted int           // increments
	counted  int           // increments that may have counted
	twins    int64         // increments that brought it to a number to which another had
	missing  int64         // the most that an access found it short by
	top      peak          // of the increments
	shown    *histories.Op // the access with the highest token: see tokenDown
	final    bool          // somebody looked after the last accepted increment
}

// tallies are those of counters, by key.
type tallies map[string]*tally

func (j *counters) observe(_ context.Context, s *stretch) error {
	if !s.counter {
		return nil
	}
	c := newCounter(s, j.known)
	if err := c.parse(); err != nil {
		return err
	}
	c.twins()
	if err := c.bounds(); err != nil {
		return err
	}
	j.accepted += len(c.accepted)
	if c.first != nil {
		j.conflict.add(s, c.first)
	}
	c.settle()
	return nil
}

func (j *counters) verdict(res *finding) error {
	unseen, lost := "", int64(0)
	for _, key := range sortedKeys(j.known) {
		k := j.known[key]
		lost += max(k.twins, k.missing)
		if !k.final && k.accepted > 0 {
			unseen = key
		}
	}
	switch {
	case j.conflict.n > 0:
		res.prove(j.conflict.first, paragraph(j.conflict.first.story, fmt.Sprintf("Of %s that were accepted, at least %d got lost.", words.Count(j.accepted, "increment"), lost)))
	case j.accepted == 0:
		res.Story = "No increment is known to have been accepted, so none could be lost."
	case unseen != "":
		res.Story = fmt.Sprintf("Nobody looked at %s after the last increment, so that it may be lost.", unseen)
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s accepted, and none of them lost.", words.Count(j.accepted, "increment"))
	}
	return nil
}

// A counter is what happened to the counter under one key.
type counter struct {
	*stretch
	past     *tally
	accesses []*histories.Op // increments and reads, in order of invocations
	seen     []int64         // by each of them, if it was accepted: before it counted itself
	accepted []int           // events at which increments were accepted, in order
	peaks    []peak          // of accepted, up to each of them

	first *conflict
	final bool // somebody looked after the last accepted increment
}

func newCounter(s *stretch, known tallies) *counter {
	if known[s.key] == nil {
		known[s.key] = &tally{}
	}
	c := &counter{stretch: s, past: known[s.key]}
	for _, o := range s.calls {
		if (o.Invoke.F == histories.Incr || o.Invoke.F == histories.Read) && s.mine(o.Invoke.Index) {
			c.accesses = append(c.accesses, o)
		}
	}
	return c
}

// parse reads what the calls saw.
func (c *counter) parse() error {
	c.seen = make([]int64, len(c.accesses))
	for i, o := range c.accesses {
		if o.Outcome() != histories.OK {
			continue
		}
		counted := int64(0) // of itself
		if o.Invoke.F == histories.Incr {
			c.accepted = append(c.accepted, o.Complete.Index)
			counted = 1
		}
		n, err := strconv.ParseInt(o.Complete.Value, 10, 64)
		if err != nil || n < counted {
			return fmt.Errorf("the counter %s is broken: the %s of event %d saw %q, want a number from %d up", c.key, o.Invoke.F, o.Complete.Index, o.Complete.Value, counted)
		}
		c.seen[i] = n - counted
	}
	slices.Sort(c.accepted)
	c.climb()
	return nil
}

// A peak is the highest number that increments brought the counter to.
type peak struct {
	number int64
	by     *histories.Op // the increment
}

// climb finds the peaks.
func (c *counter) climb() {
	reached := make(map[int]peak, len(c.accepted))
	for i, o := range c.accesses {
		if o.Invoke.F == histories.Incr && o.Outcome() == histories.OK {
			reached[o.Complete.Index] = peak{c.seen[i] + 1, o}
		}
	}
	top := c.past.top
	for _, event := range c.accepted {
		if p := reached[event]; top == (peak{}) || p.number > top.number {
			top = p
		}
		c.peaks = append(c.peaks, top)
	}
}

// highest is the peak of the first n increments that were accepted, and of those of earlier stretches.
func (c *counter) highest(n int) peak {
	if n == 0 {
		return c.past.top
	}
	return c.peaks[n-1]
}

// twins looks for increments that brought the counter to the same number.
func (c *counter) twins() {
	by := make(map[int64]*histories.Op)
	for i, o := range c.accesses {
		if o.Invoke.F != histories.Incr || o.Outcome() != histories.OK {
			continue
		}
		first, taken := by[c.seen[i]]
		if !taken {
			by[c.seen[i]] = o
			continue
		}
		if c.past.twins++; c.first == nil {
			c.first = &conflict{
				witness: []int{first.Complete.Index, o.Complete.Index},
				story: fmt.Sprintf("%s's increment of %s at %s and %s's at %s both brought it to %s.",
					histories.WorkerName(first.Invoke.Worker), c.key, words.Seconds(first.Complete.Time),
					histories.WorkerName(o.Invoke.Worker), words.Seconds(o.Complete.Time), o.Complete.Value),
			}
			slices.Sort(c.first.witness)
		}
	}
}

// bounds holds every access against the increments before it.
func (c *counter) bounds() error {
	var invoked []int // events at which increments began that may have counted, in order
	for _, o := range c.accesses {
		if o.Invoke.F == histories.Incr && o.Outcome() != histories.Fail {
			invoked = append(invoked, o.Invoke.Index)
		}
	}
	for i, o := range c.accesses {
		if o.Outcome() != histories.OK {
			continue
		}
		least, _ := slices.BinarySearch(c.accepted, o.Invoke.Index)
		most, _ := slices.BinarySearch(invoked, o.Complete.Index)
		if o.Invoke.F == histories.Incr {
			most-- // not itself
			c.final = c.final || least == len(c.accepted)-1
		} else {
			c.final = c.final || least == len(c.accepted)
		}
		top := c.highest(least)
		least, most = least+c.past.accepted, most+c.past.counted
		if c.seen[i] > int64(most) && !c.opt.excerpt {
			return fmt.Errorf("the counter %s is broken: the %s of event %d found %d, but only %s can have counted by then",
				c.key, o.Invoke.F, o.Complete.Index, c.seen[i], words.Count(most, "increment"))
		}
		missing := max(int64(least), top.number) - c.seen[i]
		if missing <= 0 {
			continue
		}
		c.past.missing = max(c.past.missing, missing)
		if c.first == nil {
			c.first = &conflict{
				witness: []int{top.by.Complete.Index, o.Complete.Index}, called: []called{calledBy(top.by)},
				story: fmt.Sprintf("%s had been accepted before %s looked at %s at %s, and it found %d where one had brought it to %d, at %s.",
					words.Count(least, "increment"), histories.WorkerName(o.Invoke.Worker), c.key, words.Seconds(o.Invoke.Time), c.seen[i],
					top.number, words.Seconds(top.by.Complete.Time)),
			}
		}
	}
	return nil
}

// settle keeps what has to be known of the counter later on.
func (c *counter) settle() {
	if len(c.accepted) > 0 {
		c.past.top, c.past.final = c.highest(len(c.accepted)), false
	}
	c.past.final = c.past.final || c.final
	c.past.accepted += len(c.accepted)
	for _, o := range c.accesses {
		if o.Invoke.F == histories.Incr && o.Outcome() != histories.Fail {
			c.past.counted++
		}
	}
}
