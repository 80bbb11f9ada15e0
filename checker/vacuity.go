package checker

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A vacuity is a reason why a run put a property to no test. The properties that it
// concerns cannot pass; a fail stays a fail.
type vacuity struct {
	reason   string
	concerns []Property // none: every property
}

// vacuities returns why a run may have tested nothing:
//
//   - There was no contention: nobody was refused, and no two attempts of different
//     workers met on a key between the invocation of an acquire and the end of its
//     belief. This concerns every property.
//   - Faults were planned, but none was in force while a lock was possibly held:
//     from an acquire's invocation to the return of its accepted release, or else to
//     the end of its belief or its TTL, whichever is later. A client's crash counts
//     as a fault. This concerns every property.
//   - A kind of call was tried and never succeeded. Acquire concerns every property.
//     Release concerns all but resource safety: a lock that nobody could give back was
//     not passed on, so passing it on was not tested. Read and write concern resource
//     safety. Extend concerns none: a lock need not have it.
func vacuities(rec *record, opt Options) []vacuity {
	var found []vacuity
	if !contended(rec) {
		found = append(found, vacuity{reason: "there was no contention: no two clients ever wanted one key at the same time"})
	}
	if opt.FaultsExpected && !hit(rec) {
		found = append(found, vacuity{reason: "faults were planned, but none was in force while a lock was possibly held"})
	}
	for _, f := range []histories.F{histories.Acquire, histories.Release, histories.Read, histories.Write} {
		if tried, succeeded := tally(rec, f); tried > 0 && succeeded == 0 {
			found = append(found, vacuity{
				reason:   fmt.Sprintf("%s was tried %s and never succeeded", f, times(tried)),
				concerns: concerned(f),
			})
		}
	}
	return found
}

func concerned(f histories.F) []Property {
	switch f {
	case histories.Release:
		return []Property{StrictExclusion, LeaseExclusion, Ownership, DeadlockFreedom}
	case histories.Read, histories.Write:
		return []Property{ResourceSafety}
	}
	return nil
}

// doubt turns every Pass that a vacuity concerns into Unknown.
func (r *Report) doubt(found []vacuity) {
	for _, v := range found {
		r.Vacuous = append(r.Vacuous, v.reason)
		for i := range r.Results {
			res := &r.Results[i]
			if res.Verdict == Fail || res.Verdict == NotApplicable {
				continue
			}
			if v.concerns != nil && !slices.Contains(v.concerns, res.Property) {
				continue
			}
			res.Verdict = Unknown
			res.Story = paragraph(res.Story, fmt.Sprintf("Vacuous: %s.", v.reason))
		}
	}
}

func tally(rec *record, f histories.F) (tried, succeeded int) {
	for _, o := range rec.calls {
		if o.Invoke.F == f {
			tried++
			if o.Outcome() == histories.OK {
				succeeded++
			}
		}
	}
	return tried, succeeded
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// contended says whether two workers ever wanted one key at the same time.
func contended(rec *record) bool {
	for _, o := range rec.calls {
		if o.Invoke.F == histories.Acquire && o.Outcome() == histories.Fail {
			return true
		}
	}
	// How far the attempts of each worker reach on each key, so far.
	reach := make(map[string]map[int]rank)
	for i := range rec.holds {
		h := &rec.holds[i]
		key := reach[h.Key]
		if key == nil {
			key = make(map[int]rank)
			reach[h.Key] = key
		}
		for worker, to := range key {
			if worker != h.Worker && to > at(h.Invoked.Event) {
				return true
			}
		}
		key[h.Worker] = max(key[h.Worker], thoughtHeld(h).to)
	}
	return false
}

// hit says whether a fault or a crash met a lock that was possibly held.
func hit(rec *record) bool {
	return slices.ContainsFunc(rec.holds, func(h histories.Hold) bool {
		from, to := h.Invoked.Event, possiblyHeld(rec, &h)
		return h.End == histories.Crash || slices.ContainsFunc(rec.faults, func(f histories.Op) bool { return inForce(f, from, to) })
	})
}

// possiblyHeld is the event by which no server can hold h any more, or the number of
// events if there is none.
func possiblyHeld(rec *record, h *histories.Hold) int {
	if r, ok := accepted(h); ok {
		return r.Complete.Index
	}
	if h.TTL <= 0 || h.Open() || h.Returned == (histories.Instant{}) {
		return len(rec.events)
	}
	expires := int(gapAt(rec.events, h.Returned.Time+h.TTL) / 2)
	return max(expires, h.Ended.Event)
}
