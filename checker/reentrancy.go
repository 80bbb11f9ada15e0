package checker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// Reentrancy is what judgeReentrancy judges.
const Reentrancy Property = "reentrancy"

func reentrancySpec() spec {
	return spec{
		property:   Reentrancy,
		definition: "the lock counts for a client its acquires less its releases, and a holder gets it again (workload reentrant)",
		judge:      judgeReentrancy,
		concerns:   reenters,
		engine:     "depth bounds",
		counts:     []histories.F{histories.Acquire, histories.Release, histories.Count},
	}
}

// judgeReentrancy judges re-entrancy: what a lock counts for a client is how often the
// client has acquired the key and not released it, and a client that has the lock gets it
// again. That nobody else gets in before the last release is a matter of exclusion.
//
// An answer to count must lie between two bounds:
//
//  1. At least the client's holds that were certainly in force during all of the call:
//     granted before, the release not yet invoked, and the lease certain (as ownership has
//     it) until the answer came.
//  2. At most its acquires that were invoked before the answer, and not refused, less those
//     of which a release was accepted before the call.
//
// An acquire that is told that the lock is taken, although a hold of the same client on that
// key was certainly in force during all of the call, is a violation, too.
//
// What another's grant, release or extend may have ended on the server since does not count in the
// first bound, nor for such an acquire; and that may have met another's hold if that certainly had the key when its client was let in.
//
// A fault that may make a server forget takes a hold out of the first bound if it was in
// force since its acquire. It may as well bring back what was released, so from the first
// such fault on the second bound says nothing. Nor does it say much after a call of
// unknown outcome, which may have counted.
//
// The verdict is Pass only if the lock was asked at least once while a client certainly
// held a key twice or more.
func judgeReentrancy(*record, Options) judge {
	return &reentrancy{}
}

type reentrancy struct {
	asked, deep int
	wrong       conflicts
	either      string // of what something else explains as well, if so
}

func (j *reentrancy) observe(_ context.Context, s *stretch) error {
	rivals := &contest{stretch: s}
	var found []*conflict
	for _, c := range reentrants(s) {
		c.rivals = rivals
		for _, o := range c.asked {
			least, most := c.bounds(o)
			var bad *conflict
			switch {
			case o.Invoke.F == histories.Acquire:
				bad = c.refused(o, least)
			case o.Outcome() == histories.OK:
				n, err := strconv.ParseInt(o.Complete.Value, 10, 64)
				if err != nil {
					return fmt.Errorf("event %d: count answered %q, want a number", o.Complete.Index, o.Complete.Value)
				}
				if s.mine(o.Complete.Index) {
					j.asked++
					if len(least) > 1 {
						j.deep++
					}
				}
				bad = c.miscounted(o, n, least, most)
			}
			if bad != nil {
				found = append(found, bad)
			}
		}
	}
	found, either := s.weigh(Reentrancy, found)
	j.wrong.add(s, found...)
	j.either = cmp.Or(j.either, either)
	return nil
}

func (j *reentrancy) verdict(res *finding) error {
	switch {
	case j.wrong.n > 0:
		res.prove(j.wrong.first, j.wrong.first.story)
		if j.wrong.n > 1 {
			res.Story = paragraph(res.Story, fmt.Sprintf("In all, %s were wrong.", words.Count(j.wrong.n, "answer")))
		}
	case j.either != "":
		res.Story = j.either
	case j.deep == 0:
		res.Story = fmt.Sprintf("The lock was never asked while somebody certainly held a key twice, so re-entry was not tested; it was asked %s.", words.Times(j.asked))
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s of how often the caller holds a key, and %d while it certainly held it twice or more: all right, and no re-entry was refused.", words.Count(j.asked, "answer"), j.deep)
	}
	return nil
}

// reenters concerns histories in which somebody would re-enter, or asks how often he did.
func reenters(rec *record) bool {
	return rec.reenters
}

// A reentrant is one worker and one key.
type reentrant struct {
	*stretch
	worker  int
	entered []*histories.Hold // in order of invocations
	asked   []*histories.Op   // counts, and acquires that were refused; in order of invocations
	rivals  *contest

	next int               // of entered
	live []*histories.Hold // of those before, the ones that may count
}

func reentrants(s *stretch) []*reentrant {
	by := make(map[int]*reentrant)
	var all []*reentrant
	of := func(worker int) *reentrant {
		r := by[worker]
		if r == nil {
			r = &reentrant{stretch: s, worker: worker}
			by[worker] = r
			all = append(all, r)
		}
		return r
	}
	for _, h := range s.holds {
		if h.Mode == histories.Reentrant {
			r := of(h.Worker)
			r.entered = append(r.entered, h)
		}
	}
	for _, o := range s.calls {
		refused := o.Invoke.Mode() == histories.Reentrant && o.Complete.Taken()
		if refused || o.Invoke.F == histories.Count {
			r := of(o.Invoke.Worker)
			r.asked = append(r.asked, o)
		}
	}
	return all
}

// bounds returns the holds that certainly count during all of o, and how many may count at
// some time of it. Calls must come in order. An o without an answer has no bounds.
func (r *reentrant) bounds(o *histories.Op) (least []*histories.Hold, most int) {
	if !o.Done {
		return nil, math.MaxInt
	}
	for ; r.next < len(r.entered) && r.entered[r.next].Invoked.Event < o.Complete.Index; r.next++ {
		r.live = append(r.live, r.entered[r.next])
	}
	r.live = slices.DeleteFunc(r.live, func(h *histories.Hold) bool { return givenBack(h) < o.Invoke.Index })
	for _, h := range r.live {
		if r.certain(h, o) {
			least = append(least, h)
		}
	}
	most = len(r.live)
	if r.serverFaults().meets(between(-1, o.Complete.Index)) {
		most = math.MaxInt
	}
	return least, most
}

// givenBack is the event from which on the lock has answered that h is over. A refusal does not say
// that it was counted, and an acquire may come after a release that began before it had returned.
func givenBack(h *histories.Hold) int {
	for _, release := range h.Releases {
		if release.Outcome == histories.OK && h.Outcome == histories.OK && h.Returned.Event < release.Invoked.Event {
			return release.Returned.Event
		}
	}
	return unknown
}

// certain reports whether h was certainly in force during all of o.
func (r *reentrant) certain(h *histories.Hold, o *histories.Op) bool {
	done := histories.Instant{Event: o.Complete.Index, Time: o.Complete.Time}
	return h.Outcome == histories.OK && h.Returned.Event < o.Invoke.Index &&
		(h.Open() || h.Ended.Event > done.Event) && r.leases.overdrawn(h) > done.Event && !r.leases.lapsed(h, done.Event) && r.leases.sureUntil(h, done) > done.Time &&
		!r.serverFaults().meets(between(h.Invoked.Event, done.Event))
}

// alone are those of some holds that nobody else can have ended by the answer to o, nor a call that was refused.
func (r *reentrant) alone(o *histories.Op, holds []*histories.Hold) []*histories.Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h *histories.Hold) bool {
		return r.rivals.admitted(h, o.Complete.Index) != nil || r.rivals.touched(h, o.Complete.Index, 0) || r.rivals.denied(h, o.Complete.Index)
	})
}

// joined reports whether somebody was let in beside one of some holds.
func (r *reentrant) joined(o *histories.Op, holds []*histories.Hold) bool {
	return slices.ContainsFunc(holds, func(h *histories.Hold) bool { return r.rivals.admitted(h, o.Complete.Index) != nil })
}

func (r *reentrant) refused(o *histories.Op, least []*histories.Hold) *conflict {
	if len(least) > 0 {
		least = slices.DeleteFunc(r.alone(o, least), r.rivals.clashes)
	}
	if len(least) == 0 {
		return nil
	}
	return &conflict{
		witness: r.witness(o, least[:1]),
		story: fmt.Sprintf("%s held %s from %s and was refused when it asked for it again, at %s.",
			histories.WorkerName(r.worker), r.key, words.Seconds(least[0].Returned.Time), words.Seconds(o.Complete.Time)),
	}
}

func (r *reentrant) miscounted(o *histories.Op, n int64, least []*histories.Hold, most int) *conflict {
	var want string
	if n < int64(len(least)) {
		if alone := r.alone(o, least); len(alone) > 0 || n == 0 || r.joined(o, least) {
			least = alone // what others end they end as a whole
		}
	}
	switch {
	case n < int64(len(least)):
		want = fmt.Sprintf("%s were certainly in force", words.Count(len(least), "hold"))
		if len(least) == 1 {
			want = "1 hold was certainly in force"
		}
		least = least[:min(max(n, 0)+1, int64(len(least)))] // as many are proof enough
	case n > int64(most):
		want = fmt.Sprintf("it can have had %d at most", most)
		least = r.live
	default:
		return nil
	}
	return &conflict{
		witness: r.witness(o, least),
		story: fmt.Sprintf("At %s the lock said that %s held %s %s, but %s.",
			words.Seconds(o.Complete.Time), histories.WorkerName(r.worker), r.key, words.Times(int(n)), want),
	}
}

// witness returns the grants of some holds, and o's answer.
func (r *reentrant) witness(o *histories.Op, holds []*histories.Hold) []int {
	var w []int
	for _, h := range holds {
		w = append(w, cmp.Or(h.Returned.Event, h.Invoked.Event))
	}
	slices.Sort(w)
	return append(w, o.Complete.Index)
}
