package checker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// Ownership is what judgeOwnership judges.
const Ownership Property = "ownership"

func ownershipSpec() spec {
	return spec{
		property:   Ownership,
		definition: "no release ends somebody else's hold",
		judge:      judgeOwnership,
		engine:     "events",
		counts:     []histories.F{histories.Acquire, histories.Release, histories.Extend},
	}
}

// judgeOwnership judges that no release or extend of one attempt ends another's
// hold. Servers keep no record of who deleted what, so it is inferred from what
// clients saw. Ownership fails if
//
//  1. the hold of an attempt B vanished while it was certainly in force. B was
//     granted and nobody had invoked its release, its lease had not run out, and
//     yet its extend or its first release was refused, or an attempt C, invoked
//     after B was granted and not one that may share the key with B, was granted too;
//     and
//  2. a release or an extend of another attempt A on that key was accepted, and
//     may have reached the server after B's hold began and before it was seen to
//     be gone; and
//  3. nothing else can have done it: no fault that may make a server forget or
//     split a hold was in force between the acquires of A and B and that sight.
//
// If only the third condition is open the verdict is Unknown. So it is if somebody was let in beside B,
// or B beside a suspect: that is for exclusion and for lease honoured to judge, and explains the rest. And if C is all that
// is seen, it may be C: unless a suspect called when B had the key already, and shares it with nobody,
// so that its answer was wrong anyway; or the wire shows that a suspect sent what may have ended B when B had been granted.
//
// A lease is certainly in force from its acquire's return until its acquire's invocation
// plus the TTL, less the clock drift that Redlock allows for (1 % of the TTL and 2 ms),
// and never beyond the deadline told. An accepted extend moves both, and one of unknown
// outcome may have shortened it. A refusal counts only if no fault at all was in force
// during the call: a client that resends a release whose first reply was lost is refused
// by itself.
//
// Attempts that re-enter are one holder's, and none of them is another to the others: what
// their releases do to each other is a matter of exclusion and of re-entrancy.
//
// An accepted release of A alone proves nothing, even if B was granted before
// it: after a failover or on several masters both keys may exist, and deleting
// one's own is honest. A hold that vanished without a suspect is a lost lock. The
// story says so; it is a matter of exclusion, not of ownership.
//
// Several attempts may be suspected, and then the story names them all, unless the commands that
// crossed the wire tell which of them did it (Options.Commands). They also acquit: if it is known
// of each command on the key what it did, and none of a suspect's releases and extends removed b's key or wrote over it, the hold
// is lost and nobody's release ended it.
//
// Blind spots: a foreign release that nobody noticed before B released or B's lease
// ran out; releases of unknown outcome; clean-ups inside an acquire, which
// no event shows; and everything that a server's fault may explain as well.
func judgeOwnership(_ *record, opt Options) judge {
	return &ownership{opt: opt}
}

type ownership struct {
	opt Options

	granted, lost int
	unsure        string
	foreign       conflicts
}

func (j *ownership) observe(_ context.Context, s *stretch) error {
	found, either := s.weigh(Ownership, j.first(s))
	j.foreign.add(s, found...)
	j.unsure = cmp.Or(either, j.unsure)
	return nil
}

// first is the first conflict of a stretch, if there is one.
func (j *ownership) first(s *stretch) []*conflict {
	k := newTenure(j, s)
	for i, b := range k.holds {
		if b.Outcome != histories.OK {
			continue
		}
		if s.mine(b.Returned.Event) {
			j.granted++
		}
		if gone, ok := k.vanished(i); ok && s.mine(gone.done.Event) {
			if c := j.explain(k, b, gone); c != nil {
				return []*conflict{c}
			}
		}
	}
	return nil
}

// explain says who ended a hold that vanished. It returns nil if it was nobody, or if that is not certain.
func (j *ownership) explain(k *tenure, b *histories.Hold, gone sighting) *conflict {
	suspects := k.suspects(b, gone)
	if len(suspects) == 0 {
		j.lost++
		return nil
	}
	a := suspects[0]
	if k.mayHaveForgotten(suspects, b, gone) {
		j.unsure = k.tell(a, b, gone) + ". A fault that may have done the same was in force, so it cannot be told which it was."
		return nil
	}
	found := j.opt.Commands.ended(b, gone.done.Time, suspects)
	if found.cleared {
		j.lost++
		return nil
	}
	if o := k.still(suspects, b, gone); found.by == nil && o != nil {
		j.unsure = k.tell(a, b, gone) + fmt.Sprintf(": either that ended %s's hold, or it was in force, as %s was refused the key at %s and nobody else can have had it.",
			histories.WorkerName(b.Worker), histories.WorkerName(o.Invoke.Worker), words.Seconds(o.Complete.Time))
		return nil
	}
	if rival, first := k.otherwise(suspects, b, gone); found.by == nil && rival != nil {
		j.unsure = k.tell(a, b, gone) + fmt.Sprintf(": either that ended %s's hold, or %s was let in beside %s.",
			histories.WorkerName(b.Worker), histories.WorkerName(rival.Worker), histories.WorkerName(first.Worker))
		return nil
	}
	who := k.culprits(suspects)
	if found.by != nil {
		a = found.by
		who = fmt.Sprintf("%s's %s", histories.WorkerName(a.Invoke.Worker), a.Invoke.F)
	}
	return &conflict{
		witness: k.witness(a, b, gone),
		story:   k.tell(a, b, gone) + fmt.Sprintf(": %s ended %s's hold%s.", who, histories.WorkerName(b.Worker), found.how),
	}
}

func (j *ownership) verdict(res *finding) error {
	switch {
	case j.foreign.n > 0:
		res.prove(j.foreign.first, j.foreign.first.story)
	case j.granted == 0:
		res.Story = "Nobody was granted a lock, so there was nothing to own."
	case j.unsure != "":
		res.Story = j.unsure
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("No release or extend is seen to have ended the hold of another among %s.", words.Count(j.granted, "grant"))
		if j.lost > 0 {
			res.Story = paragraph(res.Story, fmt.Sprintf("Lock lost: %s ended within the lease, but by no release or extend.", words.Count(j.lost, "hold")))
		}
	}
	return nil
}
