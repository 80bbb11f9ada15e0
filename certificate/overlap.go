package certificate

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// An overlap proves that two attempts which may not share had their key at once.
//
// The first attempts held it, each until the next did; the last one is the rival. Its grant is an
// event ("granted"), at which it has the key as they have, or a call ("from", "to") during which it had
// the key at some time.
type overlap struct {
	v       *Verdict
	holders []*holder
	rival   *holder // whose calls are followed, also if it is not said to hold
	from    int
	to      int
	call    call          // that ends at to
	short   time.Duration // the shortest TTL that the rival asked for, 0: none
	granted int           // the answer that granted the rival's acquire, 0: none
}

func newOverlap(v *Verdict) (proof, error) {
	n := len(v.Attempts) - 1
	if n < 1 {
		return nil, fmt.Errorf("it names %d attempts, want at least 2", len(v.Attempts))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(v.Attempts)))) != n+1 {
		return nil, fmt.Errorf("it names an attempt twice: %d", v.Attempts)
	}
	o := &overlap{v: v}
	want := slices.Repeat([]string{"held"}, n)
	if n == 1 && len(v.Events) == n+1 {
		want = append(want, "granted")
	} else {
		want = append(want, "from", "to")
	}
	at, err := roles(v, want...)
	if err != nil {
		return nil, err
	}
	o.from, o.to = at[n], at[len(at)-1]
	for i := range n {
		through := o.to
		if i+1 < n {
			through = at[i+1]
		}
		o.holders = append(o.holders, newHolder(v, v.Attempts[i], at[i], through))
	}
	o.rival = newHolder(v, v.Attempts[n], o.to, o.to)
	return o, nil
}

func (o *overlap) event(e *histories.Event) {
	for _, h := range o.holders {
		h.event(e)
	}
	o.rival.event(e)
}

func (o *overlap) answered(c *call) {
	for _, h := range o.holders {
		h.answered(c)
	}
	if c.invoke.Attempt != o.rival.attempt {
		return
	}
	o.rival.answered(c)
	if c.answer.Index == o.to {
		o.call = *c
	}
	if (c.invoke.F == histories.Acquire || c.invoke.F == histories.Extend) && c.answer.Type != histories.Fail {
		o.short = shorter(o.short, c.invoke.TTL)
	}
	if c.invoke.F == histories.Acquire && c.answer.Type == histories.OK {
		o.granted = c.answer.Index
	}
}

func (o *overlap) bounds() ([]Bound, error) {
	all, err := o.rivalry()
	if err != nil {
		return nil, err
	}
	all = append(all, less("grant of the first holder", o.holders[0].held, "begin of the rival's", o.from))
	for _, h := range o.holders {
		if shares(&h.asked, &o.rival.asked) {
			return nil, fmt.Errorf("attempts %d and %d may share the key", h.attempt, o.rival.attempt)
		}
		held, err := h.holds(o.v)
		if err != nil {
			return nil, err
		}
		all = append(all, less(fmt.Sprintf("grant of attempt %d", h.attempt), h.held, "event through which it held", h.through))
		all = append(all, held...)
	}
	return all, nil
}

// rivalry returns the inequalities by which the rival had the key.
func (o *overlap) rivalry() ([]Bound, error) {
	if o.from == o.to {
		return o.rival.holds(o.v)
	}
	c, asked := &o.call, &o.rival.asked
	switch {
	case c.answer.Type != histories.OK || c.invoke.Key != o.v.Key || asked.F != histories.Acquire:
		return nil, fmt.Errorf("event %d accepts no call of attempt %d on %q", o.to, o.rival.attempt, o.v.Key)
	case c.invoke.F == histories.Acquire && o.from == asked.Index:
		return nil, nil
	case c.invoke.F != histories.Release || o.granted != 0:
		return nil, fmt.Errorf("event %d accepts no release of an acquire of unknown outcome", o.to)
	case o.from == asked.Index:
		return nil, nil
	case o.from != c.invoke.Index:
		return nil, fmt.Errorf("event %d does not begin the call that ends with event %d", o.from, o.to)
	case o.v.Rule == mutualExclusion:
		return nil, nil
	}
	// Its lease ran all the time: else it may have been over, and the release answered with truth.
	return []Bound{less("time of the release", c.answer.Time, "end of the rival's lease", sure(asked.Time, shorter(asked.TTL, o.short)))}, nil
}

// shares says whether two acquires may have one key at once: those of readers, and the re-entries of
// one worker.
func shares(a, b *histories.Event) bool {
	if a.Mode() != b.Mode() || a.Mode() == histories.Exclusive {
		return false
	}
	return a.Mode() == histories.Shared || a.Worker == b.Worker
}
