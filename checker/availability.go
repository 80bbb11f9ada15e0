package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// Availability is what judgeAvailability judges.
const Availability Property = "availability"

func availabilitySpec() spec {
	return spec{
		property:   Availability,
		definition: "a free lock is granted: it is not refused to a client that alone wants it, somebody gets it within a lease, and nobody who waits is kept waiting by a release until the lease is over",
		judge:      judgeAvailability,
		engine:     "free windows",
		counts:     []histories.F{histories.Acquire},
	}
}

// judgeAvailability judges availability: no acquire is refused while its key is certainly
// free and nobody else wants it. Its story tells how often the lock was acquired, in all and in
// each lease, the longest time without an acquisition and, after faults, how long the first one took.
//
// A key is certainly free while no server can hold anything under it. An acquire that was
// not refused takes it from its invocation to the return of its accepted release, or else,
// since a client's belief binds no server, until a lease has passed since the latest of
// what returned and what ended it, with the slack added. Without a TTL or an end, it may be
// held for ever; so it may after an acquire of unknown outcome whose client
// neither gave it up nor crashed.
//
// Readers are not in each other's way: to them a key is free that only readers have or want.
//
// An acquire whose arguments were refused takes no part. A refusal accuses only if during all
// of its call the key was certainly free, nobody else wanted it, and no fault was in force, nor
// had been within a lease and the slack: what a server brings back from its disk or from a
// replica lasts that long.
// Somebody wants a key from the invocation of an acquire to its return, because a majority
// may be split between two who ask; and after a refusal on until it gets the key, or for a
// lease and the slack, because a lock may keep a place for those who wait.
//
// A client that asks alone and in vain, refused or without a certain answer, accuses too, if it does
// so for longer than a lease and the slack: see askedInVain. A lock on several masters must be had
// while fewer than half of them are at fault.
//
// So do refusals of a key that nobody can have, whoever got them: see refusedToAll.
//
// It fails, too, if a release was held up: a client asked to give back a lease that certainly
// ran on for longer than the slack, and the call had no answer until the lease had ended, while
// somebody else wanted the key all that time and no fault was in force, nor had been since the
// acquire. Nobody worked under the lock, and nobody could have it. A history that stops before
// the lease ends proves none of that.
//
// It fails, too, if a call did not return within its limit, or if it panicked; see hung.
//
// The verdict is Pass only if somebody was granted a lock, and after the last fault too if
// somebody asked then. A lock that nobody got, but that may have been held, is a matter of
// deadlock freedom and Unknown here.
func judgeAvailability(rec *record, opt Options) judge {
	return &availability{record: rec, opt: opt, leases: make(map[string]time.Duration), shared: make(map[string]bool)}
}

type availability struct {
	*record
	opt Options

	leases map[string]time.Duration // by key: the longest asked for
	shared map[string]bool          // by key: somebody would share it

	refused            int
	wrong, vain, stuck conflicts
	early              conflicts // in vain, if another fault ends
	known              rank      // the end of the last fault that was known
	asked              int       // event: the last time that somebody asked
}

func (j *availability) observe(_ context.Context, of *stretch) error {
	calm, _ := j.calm()
	j.since(calm)
	s := newSupply(of, j.opt)
	j.leases[of.key], j.shared[of.key] = max(s.lease, j.leases[of.key]), j.shared[of.key] || slices.ContainsFunc(s.asked, reads)
	s.lease, s.shared = j.leases[of.key], j.shared[of.key]
	s.disturb(j.opt.slack())
	if v, ok := s.askedInVain(j.opt); ok {
		j.vain.add(of, &conflict{witness: []int{v.first.Invoke.Index, v.last.Complete.Index}, story: v.tell(s, j.opt.Masters)})
	} else if c := s.refusedToAll(j.opt, calm); c != nil {
		j.vain.add(of, c)
	} else if c := s.refusedToAll(j.opt, never); c != nil && calm != never {
		j.early.add(of, c)
	}
	if c := s.stuck(j.opt.slack()); c != nil {
		j.stuck.add(of, c)
	}
	if n := len(s.asked); n > 0 {
		j.asked = max(j.asked, s.asked[n-1].Invoke.Index)
	}
	free := s.open(j.opt.slack())
	for i, o := range s.asked {
		if o.Done && !s.mine(o.Complete.Index) {
			continue
		}
		if o.Outcome() == histories.Fail {
			if j.refused++; free[i] {
				j.wrong.add(of, &conflict{witness: []int{o.Invoke.Index, o.Complete.Index}, story: s.tellRefused(o)})
			}
		}
	}
	return nil
}

func (j *availability) forget(key string) {
	delete(j.leases, key)
	delete(j.shared, key)
}

// since takes what was refused to all before the last fault ended.
func (j *availability) since(calm rank) {
	if calm != j.known {
		j.known = calm
		j.vain.take(j.early)
		j.early = conflicts{}
	}
}

func (j *availability) verdict(res *finding) error {
	if hung := j.hung(); hung != nil {
		res.prove(hung, hung.story)
		return nil
	}
	calm, sick := j.calm()
	j.since(calm)
	pace := j.pace.tell(j.last.Time, sick == nil)
	proof := cmp.Or(j.vain.first, j.stuck.first)
	if wrong := j.wrong.first; wrong != nil && (j.vain.n == 0 || wrong.witness[1] <= j.vain.first.witness[1]) {
		if proof = wrong; j.wrong.n > 1 {
			proof.story = paragraph(proof.story, fmt.Sprintf("In all, %s of a free lock.", words.Count(j.wrong.n, "refusal")))
		}
	}
	switch {
	case proof != nil:
		res.prove(proof, paragraph(proof.story, pace))
	case sick == nil && calm > 0 && at(j.asked) >= calm && !j.pace.recovered:
		res.Story = paragraph(pace, "It was asked for then, but may have been held.")
	case j.pace.grants == 0:
		res.Story = "Nobody was granted a lock, and it may have been held all the time."
	default:
		res.Verdict = Pass
		res.Story = paragraph(pace, fmt.Sprintf("%s, none of a key that was certainly free and that nobody else wanted.", words.Count(j.refused, "refusal")))
	}
	return nil
}

// stuck is the conflict of the first release that was held up, or nil.
func (s *supply) stuck(slack time.Duration) *conflict {
	calls := make([]span, len(s.asked))
	for i, o := range s.asked {
		calls[i] = s.calling(o)
	}
	waits := newCover(calls)
	for _, t := range s.taken {
		h := t.hold
		if h == nil || h.Outcome != histories.OK || h.TTL <= 0 || len(h.Releases) == 0 {
			continue
		}
		r := h.Releases[0]
		end := s.leases.sureUntil(h, r.Invoked)
		answered := r.Returned != (histories.Instant{})
		if end-r.Invoked.Time <= slack || answered && r.Returned.Time < end || s.record.last.Time < end {
			continue
		}
		over := s.gap(end)
		all := span{over, at(r.Invoked.Event)} // a call that meets it is under way from the release to the end of the lease
		if !waits.meets(all) || s.faults().meets(span{at(h.Invoked.Event), over}) {
			continue
		}
		if answered && !s.mine(r.Returned.Event) {
			continue
		}
		waiting := slices.IndexFunc(s.asked, func(o *histories.Op) bool {
			return o.Invoke.Worker != h.Worker && s.calling(o).meets(all)
		})
		if waiting < 0 {
			continue
		}
		o := s.asked[waiting]
		witness := []int{h.Returned.Event, o.Invoke.Index, r.Invoked.Event}
		until := "and the call had no answer at all"
		if answered {
			witness = append(witness, r.Returned.Event)
			until = "and the call had no answer until " + words.Seconds(r.Returned.Time)
		}
		slices.Sort(witness)
		return &conflict{
			witness: witness,
			story: fmt.Sprintf("%s asked to release %s at %s, %s, when its lease, which certainly ran until %s, had ended: nobody worked under the lock, and %s, who wanted it all the time, did not get it for %s.",
				histories.WorkerName(h.Worker), h.Key, words.Seconds(r.Invoked.Time), until, words.Seconds(end),
				histories.WorkerName(o.Invoke.Worker), words.Seconds(end-r.Invoked.Time)),
		}
	}
	return nil
}
