package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// TruthfulReplies is what judgeReplies judges.
const TruthfulReplies Property = "truthful-replies"

func truthfulRepliesSpec() spec {
	return spec{
		property:   TruthfulReplies,
		definition: `no reply contradicts the key: no success for a lock that is certainly another's, no refusal of one that is certainly the caller's own or free; and a refused acquire leaves nothing behind`,
		judge:      judgeReplies,
		engine:     "certain holds",
		counts:     []histories.F{histories.Release, histories.Extend, histories.Verify},
	}
}

// judgeReplies judges truthful replies: what release, extend and verify answered is what the
// server's key shows. Histories do not record the key, except in audits at the end, so it
// is judged only where the calls leave no doubt what it must have shown:
//
//  1. "Done" is untrue if the key was certainly another's: after the caller's acquire had
//     returned, and when its lease was not certain any more, another attempt with which it
//     may not share asked for the key and was granted it, before the call; and until the
//     answer that one's lease was certain and it had not given it up. Of an extend it is enough
//     that the other was granted the key: what was another's is lost, also if it is free again.
//  2. "Done" is untrue if a release of the same attempt had answered that before the
//     call: what is deleted can be neither deleted nor extended. Nor can it be deleted twice by releases that meet. Readers and re-entries may be
//     counted, so of theirs it is if their client had nothing else. And it is if the attempt's acquire had
//     been refused, or, or else that was untrue, if another call of it had been told "not yours".
//     The "yes" of a verify is a "done".
//  3. "Not yours" is untrue if the key was certainly the caller's: its attempt had been
//     granted, nobody had asked to release it by the answer, its lease was certain until then,
//     and since the acquire was invoked nobody else's release or extend can have reached the key,
//     and nobody else was let in beside, which is for exclusion to tell. An acquire that was not granted takes nothing
//     of what is held.
//  4. "Taken" is untrue if nobody else can have had the key, or if it left the key behind: see
//     refusedOwn and leftBehind.
//
// The "done" of a release that says nothing of whose lock it was (Options.SilentRelease) is true
// of anything.
//
// What else acquire answers is judged elsewhere: a grant of what another has by exclusion and by
// lease honoured, a refusal of what nobody has by availability, too.
//
// It accuses nobody if a fault was in force between the acquires concerned and the answer
// that may have changed the key, or, of a "not yours", any fault: a client that was cut off
// may have asked twice. An answer that leaves the outcome open is true of anything. The
// property does not apply if no release, extend or verify was answered and no refusal is untrue.
func judgeReplies(_ *record, opt Options) judge {
	return &replies{opt: opt, obscure: make(map[string]bool)}
}

type replies struct {
	opt Options

	answered int
	late     int // calls of attempts that had been over for so long that nothing is known of them
	untrue   conflicts
	either   string          // of what something else explains as well, if so
	obscure  map[string]bool // keys of which nobody knows any more what is there: see refusedOwn
}

func (j *replies) observe(_ context.Context, s *stretch) error {
	d := newDialogue(j, s)
	found := leftBehind(s, j.opt)
	if c := j.refusedOwn(s); c != nil {
		found = append(found, c)
	}
	found, either := s.weigh(TruthfulReplies, append(found, d.judge()...))
	j.untrue.add(s, found...)
	j.either = cmp.Or(j.either, either)
	return nil
}

func (j *replies) verdict(res *finding) error {
	switch {
	case j.untrue.n > 0:
		res.prove(j.untrue.first, j.untrue.first.story)
		if j.untrue.n > 1 {
			res.Story = paragraph(res.Story, fmt.Sprintf("In all, %s were untrue.", words.Count(j.untrue.n, "answer")))
		}
	case j.either != "":
		res.Story = j.either
	case j.answered == 0:
		res.Verdict = NotApplicable
		res.Story = "No release, extend or verify got an answer."
	case j.late > 0:
		res.Story = fmt.Sprintf("%s to release or extend what had been given back long before, of which nothing is known any more.", words.Count(j.late, "answer"))
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s to release, extend and verify, and none that the key can be seen to contradict.", words.Count(j.answered, "answer"))
	}
	return nil
}

// A dialogue is what was asked and answered on one key.
type dialogue struct {
	*replies
	*stretch
	rivals  *contest
	own     map[uint64]*histories.Hold
	refused map[uint64]*histories.Op   // acquires, by attempt
	denials map[uint64][]*histories.Op // releases, extends and verifies that were refused so far, by attempt
	asked   []*histories.Op            // releases, extends and verifies, in order of invocations

	granted []*histories.Hold // of those before the call that is judged, the ones that may still be certain
	latest  []*histories.Hold // that were granted, in order of returns, from the last before the call on
}

func newDialogue(j *replies, s *stretch) *dialogue {
	d := &dialogue{
		replies: j, stretch: s, rivals: &contest{stretch: s}, own: make(map[uint64]*histories.Hold, len(s.holds)),
		refused: make(map[uint64]*histories.Op), denials: make(map[uint64][]*histories.Op),
	}
	for _, h := range s.holds {
		d.own[h.Attempt] = h
	}
	for _, o := range s.calls {
		switch o.Invoke.F {
		case histories.Release, histories.Extend, histories.Verify:
			if o.Outcome() != histories.Info && s.mine(o.Complete.Index) {
				j.answered++
				if d.own[o.Invoke.Attempt] == nil && !s.asked(o.Invoke.Attempt) {
					j.late++
				}
			}
			d.asked = append(d.asked, o)
		case histories.Acquire:
			if o.Complete.Taken() {
				d.refused[o.Invoke.Attempt] = o
			}
		}
	}
	return d
}

// judge returns every answer that is untrue.
func (r *dialogue) judge() []*conflict {
	var found []*conflict
	next := 0
	r.latest = slices.DeleteFunc(slices.Clone(r.holds), func(h *histories.Hold) bool { return h.Outcome != histories.OK })
	slices.SortFunc(r.latest, func(a, b *histories.Hold) int { return a.Returned.Event - b.Returned.Event })
	for _, o := range r.asked {
		for ; next < len(r.holds) && r.holds[next].Invoked.Event < o.Invoke.Index; next++ {
			r.granted = append(r.granted, r.holds[next])
		}
		c := r.never(o)
		switch h := r.own[o.Invoke.Attempt]; {
		case h == nil || !o.Done || o.Outcome() == histories.OK && r.opt.SilentRelease && o.Invoke.F == histories.Release:
		case o.Outcome() == histories.OK:
			for _, says := range []func(*histories.Hold, *histories.Op) *conflict{r.twice, r.anothers, r.revived, r.after} {
				if c == nil {
					c = says(h, o)
				}
			}
		case o.Complete.NotHeld():
			c = r.denied(h, o)
			r.denials[h.Attempt] = append(r.denials[h.Attempt], o)
		}
		if c != nil {
			found = append(found, c)
		}
	}
	return found
}

// never is the conflict of an answer that says that what was never granted was released or
// extended. A lock on several masters may clean up so.
func (r *dialogue) never(o *histories.Op) *conflict {
	refusal, ok := r.refused[o.Invoke.Attempt]
	silent := r.opt.SilentRelease && o.Invoke.F == histories.Release
	if !ok || silent || r.opt.Masters > 1 || o.Outcome() != histories.OK || r.faults().meets(between(refusal.Invoke.Index, o.Complete.Index)) {
		return nil
	}
	return &conflict{
		witness: []int{refusal.Complete.Index, o.Invoke.Index, o.Complete.Index},
		story: fmt.Sprintf("%s's %s of %s was accepted at %s, though its acquire had been refused at %s: it had nothing that could be its own.",
			histories.WorkerName(o.Invoke.Worker), o.Invoke.F, o.Invoke.Key, words.Seconds(o.Complete.Time), words.Seconds(refusal.Complete.Time)),
	}
}

// twice is the conflict of an answer that says that what had been released was released or
// extended. Re-entries and readers may count: theirs is one only if their client had nothing else.
func (r *dialogue) twice(h *histories.Hold, o *histories.Op) *conflict {
	for _, before := range h.Releases {
		first := before.Returned.Event < o.Invoke.Index || o.Invoke.F == histories.Release && before.Invoked.Event < o.Invoke.Index
		if before.Outcome != histories.OK || !first {
			continue
		}
		done := max(before.Returned.Event, o.Complete.Index)
		if r.serverFaults().meets(between(h.Invoked.Event, done)) || h.Mode != histories.Exclusive && r.shares(h, done) {
			return nil
		}
		return &conflict{
			witness: []int{before.Returned.Event, o.Invoke.Index, o.Complete.Index},
			story: fmt.Sprintf("%s's release of %s was accepted at %s, and so was its %s of the same lock at %s, when there was nothing left of it.",
				histories.WorkerName(h.Worker), h.Key, words.Seconds(before.Returned.Time), o.Invoke.F, words.Seconds(o.Complete.Time)),
		}
	}
	return nil
}

// shares reports whether the client of h had asked before an event for what may have shared the key with h.
func (r *dialogue) shares(h *histories.Hold, before int) bool {
	return slices.ContainsFunc(r.holds, func(b *histories.Hold) bool {
		return b != h && b.Worker == h.Worker && b.Invoked.Event < before && b.Shares(*h)
	})
}

// after is the conflict of an answer that says that a key is the caller's, when another had said that it was
// not: one of both is untrue.
func (r *dialogue) after(h *histories.Hold, o *histories.Op) *conflict {
	done := histories.Instant{Event: o.Complete.Index, Time: o.Complete.Time}
	proof := grantOf(h)
	if r.opt.Masters > 1 || proof == (histories.Instant{}) || r.leases.sureUntil(h, done) <= done.Time || h.Mode == histories.Reentrant && r.shares(h, done.Event) {
		return nil
	}
	i := slices.IndexFunc(r.denials[h.Attempt], func(d *histories.Op) bool {
		return d.Invoke.Index > proof.Event && d.Complete.Index < o.Invoke.Index
	})
	if i < 0 || r.faults().meets(between(h.Invoked.Event, done.Event)) {
		return nil
	}
	denial := r.denials[h.Attempt][i]
	return &conflict{
		witness: []int{proof.Event, denial.Invoke.Index, denial.Complete.Index, o.Invoke.Index, o.Complete.Index},
		story: fmt.Sprintf("%s's %s of %s was refused at %s, and its %s of the same lock was accepted at %s: either it was its own all the time, or not any more.",
			histories.WorkerName(h.Worker), denial.Invoke.F, h.Key, words.Seconds(denial.Complete.Time), o.Invoke.F, words.Seconds(o.Complete.Time)),
	}
}

// anothers is the conflict of an answer that says that a key was the caller's when it was
// certainly another's. If an extend of unknown outcome leaves it open when the caller's lease
// was over, the other may have been granted the key too early; then that was wrong, or the answer.
func (r *dialogue) anothers(h *histories.Hold, o *histories.Op) *conflict {
	if h.Outcome != histories.OK || h.TTL <= 0 {
		return nil
	}
	done := histories.Instant{Event: o.Complete.Index, Time: o.Complete.Time}
	r.granted = slices.DeleteFunc(r.granted, func(b *histories.Hold) bool {
		over := !b.Open() && b.Ended.Event < o.Invoke.Index || b.Returned.Event < o.Invoke.Index && r.leases.sureUntil(b, done) <= o.Invoke.Time
		return b.Outcome != histories.OK || over
	})
	for _, b := range r.granted {
		certainly := b.Returned.Event < o.Invoke.Index && (b.Open() || b.Ended.Event > done.Event) && r.leases.sureUntil(b, done) > done.Time
		followed := b.Invoked.Event > h.Returned.Event && r.leases.owed(h, b.Returned.Event) <= b.Returned.Time
		if !certainly || !followed || b.Shares(*h) || r.reentered(h, b, o) || r.serverFaults().meets(between(min(h.Invoked.Event, b.Invoked.Event), done.Event)) {
			continue
		}
		return &conflict{
			witness: []int{h.Returned.Event, b.Returned.Event, o.Invoke.Index, o.Complete.Index},
			story: paragraph(fmt.Sprintf("%s's %s of %s, invoked at %s, was accepted at %s although its lease was over and %s had been granted the key at %s: it was told that it was its own.",
				histories.WorkerName(h.Worker), o.Invoke.F, h.Key, words.Seconds(o.Invoke.Time), words.Seconds(o.Complete.Time),
				histories.WorkerName(b.Worker), words.Seconds(b.Returned.Time)), orEarly(h, b, o)),
		}
	}
	return nil
}

// revived is the conflict of an extend of what another has had since it was the caller's.
func (r *dialogue) revived(h *histories.Hold, o *histories.Op) *conflict {
	if o.Invoke.F != histories.Extend || h.Outcome != histories.OK || h.TTL <= 0 {
		return nil
	}
	for len(r.latest) > 1 && r.latest[1].Returned.Event < o.Invoke.Index {
		r.latest = r.latest[1:]
	}
	b := r.latest[0]
	followed := h.Returned.Event < b.Invoked.Event && b.Returned.Event < o.Invoke.Index && r.leases.owed(h, b.Returned.Event) <= b.Returned.Time
	if !followed || b.Shares(*h) || r.reentered(h, b, o) || r.serverFaults().meets(between(h.Invoked.Event, o.Complete.Index)) {
		return nil
	}
	return &conflict{
		witness: []int{h.Returned.Event, b.Returned.Event, o.Invoke.Index, o.Complete.Index},
		story: paragraph(fmt.Sprintf("%s's extend of %s, invoked at %s, was accepted at %s although its lease was over and %s had been granted the key at %s: what was lost was brought back.",
			histories.WorkerName(h.Worker), h.Key, words.Seconds(o.Invoke.Time), words.Seconds(o.Complete.Time),
			histories.WorkerName(b.Worker), words.Seconds(b.Returned.Time)), orEarly(h, b, o)),
	}
}

// reentered reports whether the client of h may have had the key again, after b, when it got an answer
// to a call for h: to a lock that counts what a client entered that is as good.
func (r *dialogue) reentered(h, b *histories.Hold, o *histories.Op) bool {
	return h.Mode == histories.Reentrant && slices.ContainsFunc(r.holds, func(g *histories.Hold) bool {
		return g != h && g.Shares(*h) && (g.Returned == (histories.Instant{}) || g.Outcome != histories.OK || g.Returned.Event > b.Invoked.Event) && g.Invoked.Event < o.Complete.Index
	})
}

// orEarly tells of the other explanation of an answer that o had though b was granted the key, if
// an extend of h has no known outcome.
func orEarly(h, b *histories.Hold, o *histories.Op) string {
	i := slices.IndexFunc(h.Unknown, func(x histories.Extension) bool { return x.Invoked.Event < o.Complete.Index })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s's extend at %s has no known outcome. So either the answer is untrue, or %s was granted the key before a lease was over that this had lengthened.",
		histories.WorkerName(h.Worker), words.Seconds(h.Unknown[i].Invoked.Time), histories.WorkerName(b.Worker))
}

// denied is the conflict of an answer that says that a key was not the caller's when it
// certainly was.
func (r *dialogue) denied(h *histories.Hold, o *histories.Op) *conflict {
	done := histories.Instant{Event: o.Complete.Index, Time: o.Complete.Time}
	// Of an extend, which a renewing process may send while the holder releases.
	ended := !h.Open() && h.Ended.Event < o.Complete.Index && h.Ended.Event != o.Invoke.Index
	proof := grantOf(h)
	if proof == (histories.Instant{}) || proof.Event > o.Invoke.Index || ended || givesBack(h, o.Invoke.Index, o.Complete.Index) || r.leases.sureUntil(h, done) <= done.Time || r.faults().meets(between(h.Invoked.Event, done.Event)) {
		return nil
	}
	if r.leases.overdrawn(h) < done.Event || h.Mode == histories.Reentrant && r.leases.lapsed(h, done.Event) || r.rivals.touched(h, done.Event, 0) || r.rivals.admitted(h, done.Event) != nil {
		return nil
	}
	if r.opt.Commands.ranOut(h, done.Time) || r.opt.Commands.takenAway(h, done.Time) {
		return nil // the refusal is true: the acquire, or an extend, asked for too short a lease, or another wrote over the key
	}
	lease := "had no end"
	if end := r.leases.sureUntil(h, done); end != forever {
		lease = "certainly ran until " + words.Seconds(end)
	}
	return &conflict{
		witness: []int{proof.Event, o.Invoke.Index, o.Complete.Index},
		story: fmt.Sprintf("%s was granted %s at %s, its lease %s and nobody else had touched the key, yet its %s was refused at %s: it was told that the lock was not its own.",
			histories.WorkerName(h.Worker), h.Key, words.Seconds(proof.Time), lease, o.Invoke.F, words.Seconds(o.Complete.Time)),
	}
}
