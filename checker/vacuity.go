package checker

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// A vacuity is a reason why a run put a property to no test. The properties that it
// concerns cannot pass; a fail stays a fail.
type vacuity struct {
	reason   string
	concerns []Property // none: every property
}

// vacuities returns why a run may have tested nothing:
//
//   - There was no contention: nobody was told that the lock is taken, and no two attempts of
//     different workers met on a key between the invocation of an acquire and the end of its
//     belief. Readers do not contend with readers. This concerns every property.
//   - Nobody had an answer in it: nobody was told that the lock is taken, and nobody was granted
//     one while another worker wanted its key. Who never hears from the lock cannot hear that it
//     was granted twice. This concerns exclusion and the resource.
//   - Faults were planned, but none was in force while a lock was possibly held:
//     from an acquire's invocation to the return of its accepted release, or else to
//     the end of its belief or its TTL, whichever is later. Who says that the lock is taken
//     says that somebody has it, so that a fault during that call counts, too. A client's
//     crash counts as a fault. This concerns every property.
//   - A kind of call was tried and never succeeded. Acquire concerns every property.
//     Release concerns all but those of the resource: a lock that nobody could give back
//     was not passed on, so passing it on was not tested. Read and write concern resource
//     safety, draw that and the single winner, incr counter safety, count re-entrancy.
//     Extend concerns none: a lock need not have it.
//   - Nobody was ever granted a shared lock of those who asked. This concerns exclusion.
//   - A step of a script did not hit the lock as it should have. This concerns every property.
//   - Nobody could look at what the lock's servers hold at the end. This concerns deadlock
//     freedom and truthful replies.
func vacuities(rec *record, opt Options) []vacuity {
	var found []vacuity
	if rec.Taken == 0 && !rec.contended {
		found = append(found, vacuity{reason: "there was no contention: no two clients ever wanted one key at the same time"})
	}
	if rec.Taken == 0 && rec.contended && !rec.answered {
		found = append(found, vacuity{
			reason:   "nobody was granted or refused a key while another client wanted it: acquires that met had no answer",
			concerns: []Property{StrictExclusion, LeaseExclusion, LeaseHonoured, ResourceSafety, CounterSafety, SingleWinner},
		})
	}
	if opt.FaultsExpected && rec.Hit == 0 && !rec.hit {
		found = append(found, vacuity{reason: "faults were planned, but none was in force while a lock was possibly held"})
	}
	for _, f := range []histories.F{
		histories.Acquire, histories.Release, histories.Read, histories.Write, histories.Incr, histories.Draw, histories.Count,
	} {
		if t := rec.Tallies[f]; t.Calls > 0 && t.OK == 0 {
			found = append(found, vacuity{
				reason:   fmt.Sprintf("%s was tried %s and never succeeded", f, words.Times(t.Calls)),
				concerns: concerned(f),
			})
		}
	}
	if r := rec.Readers; r.Calls > 0 && r.OK == 0 {
		found = append(found, vacuity{
			reason:   fmt.Sprintf("a shared lock was asked for %s and never granted", words.Times(r.Calls)),
			concerns: []Property{StrictExclusion, LeaseExclusion, LeaseHonoured},
		})
	}
	for _, why := range rec.Missed {
		found = append(found, vacuity{reason: why})
	}
	for _, why := range rec.Unseen {
		found = append(found, vacuity{reason: why, concerns: []Property{DeadlockFreedom, TruthfulReplies}})
	}
	return found
}

func concerned(f histories.F) []Property {
	switch f {
	case histories.Release:
		return []Property{
			StrictExclusion, LeaseExclusion, LeaseHonoured, Ownership, TruthfulReplies, Fencing, Reentrancy, DeadlockFreedom, Availability, Fairness,
		}
	case histories.Read, histories.Write:
		return []Property{ResourceSafety}
	case histories.Incr:
		return []Property{CounterSafety}
	case histories.Draw:
		return []Property{ResourceSafety, SingleWinner}
	case histories.Count:
		return []Property{Reentrancy}
	}
	return nil
}

// downgrade turns every Pass that a vacuity concerns into Unknown.
func (r *Report) downgrade(found []vacuity) {
	for _, v := range found {
		r.Vacuous = append(r.Vacuous, v.reason)
		for i := range r.Results {
			res := &r.Results[i]
			if res.Verdict != Pass && res.Verdict != Unknown {
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

// testify notes what a stretch has to say of how much a history tells.
func (s *stretch) testify() {
	contended, answered := s.contended()
	s.record.contended = s.record.contended || contended
	s.record.answered = s.record.answered || answered
	faults := s.faults()
	for _, h := range s.holds {
		until, forever := possiblyHeld(h)
		s.record.possibly = max(s.record.possibly, until.Time)
		to := max(s.gap(until.Time), at(until.Event))
		if forever {
			to = never
		}
		s.record.hit = s.record.hit || h.End == histories.Crash || faults.meets(span{at(h.Invoked.Event), to})
	}
}

// contended reports whether two workers ever wanted the key at the same time, and whether one of them
// was granted it while the other did.
func (s *stretch) contended() (contended, answered bool) {
	type claimant struct {
		worker int
		mode   histories.Mode
	}
	type extent struct {
		wanted  rank // how far the attempts of a claimant reach, so far
		granted rank // when the last of them was, so far
	}
	before := make(map[claimant]extent)
	for _, h := range s.holds {
		asked := at(h.Invoked.Event)
		for c, e := range before {
			readers := c.mode == histories.Shared && h.Mode == histories.Shared
			if c.worker == h.Worker || readers || e.wanted <= asked {
				continue
			}
			contended = true
			if granted(h) > 0 || e.granted > asked {
				return true, true
			}
		}
		c := claimant{h.Worker, h.Mode}
		e := before[c]
		e.wanted = max(e.wanted, thoughtHeld(h).to)
		e.granted = max(e.granted, granted(h))
		before[c] = e
	}
	return contended, false
}

// granted is when a client was told that it has h: by its acquire, or else by an extend or a release
// that was accepted. 0: never.
func granted(h *histories.Hold) rank {
	if h.Outcome == histories.OK {
		return at(h.Returned.Event)
	}
	if len(h.Extends) > 0 {
		return at(h.Extends[0].Returned.Event)
	}
	if r, ok := accepted(h); ok {
		return at(r.Returned.Event)
	}
	return 0
}

// possiblyHeld is the event and the time by which no server can hold h any more, or that it may be
// for ever.
func possiblyHeld(h *histories.Hold) (until histories.Instant, ever bool) {
	if r, ok := accepted(h); ok {
		return histories.Instant{Event: r.Returned.Event}, false
	}
	if h.TTL <= 0 || h.Open() || h.Returned == (histories.Instant{}) {
		return histories.Instant{Time: forever}, true
	}
	return histories.Instant{Event: h.Ended.Event, Time: plus(h.Returned.Time, h.TTL)}, false
}
