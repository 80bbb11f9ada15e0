package checker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// ResourceSafety is what judgeResource judges.
const ResourceSafety Property = "resource-safety"

func resourceSafetySpec() spec {
	return spec{
		property:   ResourceSafety,
		definition: "no update of the protected register is lost, no section sees it change from outside, and no write with a stale fencing token is accepted",
		judge:      judgeResource,
		engine:     "version order",
		counts:     []histories.F{histories.Read, histories.Write, histories.Draw},
	}
}

// judgeResource judges resource safety: the critical sections' reads and writes of
// the protected register lose no update, no section sees it change from outside, and no
// write with a stale token is accepted. Counters are judged by judgeCounter.
//
// The register counts its writes. A read tells the version that it saw, a write
// the version that it replaced, so accepted accesses are in a known order.
//
// A lost update is an accepted write that replaced a version other than the one its
// attempt had last read or written: it overwrote what it had never seen. Writes
// of an attempt that read nothing before are not judged.
//
// A read is unstable if it sees another version than its attempt last saw or wrote:
// somebody wrote into its section. To take a lottery's prize is a write.
//
// A write is stale if it was accepted with a token lower than that of an access
// before it in the order of versions. Tokens of 0 take no part.
//
// A write of unknown outcome accuses nobody. It may have produced one version that
// no accepted write did, and if it is the attempt's own it may explain what that
// attempt overwrote; but to overwrite a version that the attempt had not seen is a
// lost update whoever wrote it. A refused write is a guard at work.
//
// Two writes that replaced the same version, an access that saw an older one
// than a call that returned before it began, or one that saw more versions than there had been
// writes, mean that the register is broken. That is an error of the harness, not of the lock.
func judgeResource(*record, Options) judge { return &resource{known: make(ledgers)} }

type resource struct {
	known                   ledgers
	judged, unjudged        int
	lost                    int // versions that were overwritten unseen
	update, stale, unstable conflicts
}

func (j *resource) observe(_ context.Context, s *stretch) error {
	r := newRegister(s, j.known)
	if r == nil {
		return nil
	}
	if err := r.check(); err != nil {
		return err
	}
	r.updates()
	r.tokens()
	j.judged, j.unjudged, j.lost = j.judged+r.judged, j.unjudged+r.unjudged, j.lost+len(r.lost)
	j.update.take(r.update)
	j.stale.take(r.stale)
	j.unstable.take(r.unstable)
	return nil
}

func (j *resource) verdict(res *finding) error {
	var skipped string
	if j.unjudged > 0 {
		skipped = fmt.Sprintf("%s came without a read by the same attempt and could not be judged.", words.Count(j.unjudged, "write"))
	}
	proof := cmp.Or(j.update.first, j.stale.first, j.unstable.first) // one of them is enough
	switch {
	case proof != nil:
		res.prove(proof, paragraph(
			j.update.tell(words.Count(j.lost, "update")+" lost"),
			j.stale.tell(words.Count(j.stale.n, "write")+" with a stale token accepted"),
			j.unstable.tell(words.Count(j.unstable.n, "unstable read")), skipped))
	case len(j.known) == 0:
		res.Verdict = NotApplicable
		res.Story = "The clients had no protected resource."
	case j.judged == 0:
		res.Story = paragraph("No accepted write followed a read of its own attempt, so no update could be lost.", skipped)
	default:
		res.Verdict = Pass
		res.Story = paragraph(fmt.Sprintf("%s, each of the version that its attempt had last seen, and none with a stale token.", words.Count(j.judged, "accepted write")), skipped)
	}
	return nil
}

// tell tells of the first, and of all.
func (e conflicts) tell(all string) string {
	if e.first == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s.", e.first.story, all)
}
