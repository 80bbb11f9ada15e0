package certificate

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// The kinds of proofs.
const (
	BySearch      = "search"      // of a fail: it is found in the history; of a pass: nothing is
	ByExplanation = "explanation" // of a pass: an order explains all calls on locks
	ByCommands    = "commands"    // as by search, with what crossed the wire
)

// The rules, as reports name them.
const (
	mutualExclusion = "mutual-exclusion"
	leaseExclusion  = "lease-exclusion"
	leaseHonoured   = "lease-honoured"
	ownership       = "ownership"
	truthfulReplies = "truthful-replies"
	resourceSafety  = "resource-safety"
	fencing         = "fencing"
	counterSafety   = "counter-safety"
	singleWinner    = "single-winner"
	reentrancy      = "reentrancy"
	deadlockFreedom = "deadlock-freedom"
	availability    = "availability"
	fairness        = "fairness"
	load            = "load"
)

// maxEvents is how many events, and how many attempts, a verdict may name.
const maxEvents = 100

// wellFormed returns why a verdict cannot be proven as it says.
func (v *Verdict) wellFormed() error {
	var want string
	switch {
	case searches()[v.Rule] == nil:
		return fmt.Errorf("there is no such rule")
	case (v.Proof == BySearch || v.Proof == ByCommands && witnessed()[v.Rule] != nil) && (v.Verdict == Fail || v.Verdict == Pass):
		want = v.Verdict
	case v.Proof == ByExplanation && slices.Contains(passesBy(), v.Rule):
		want = Pass
	default:
		return fmt.Errorf("a proof of the kind %q proves nothing of this rule", v.Proof)
	}
	switch {
	case v.Verdict != want:
		return fmt.Errorf("the verdict is %q, want %q of a proof of the kind %q", v.Verdict, want, v.Proof)
	case len(v.Commands) > 0 && (v.Proof != ByCommands || want == Pass):
		return fmt.Errorf("it names commands, and nothing is proven by them")
	case len(v.Events) > maxEvents || len(v.Attempts) > maxEvents || len(v.Commands) > maxEvents:
		return fmt.Errorf("it names %d events and %d attempts, want %d at most", len(v.Events), len(v.Attempts), maxEvents)
	case want == Pass && (v.Key != "" || len(v.Attempts) > 0 || len(v.Events) > 0 || len(v.Bounds) > 0):
		return fmt.Errorf("a pass is of all keys, and names nothing")
	}
	return nil
}

// less says that a number is less than another.
func less[T ~int | ~int64](lower string, low T, upper string, high T) Bound {
	return Bound{lower, int64(low), "<", upper, int64(high)}
}

// most says that a number is at most as great as another.
func most[T ~int | ~int64](lower string, low T, upper string, high T) Bound {
	return Bound{lower, int64(low), "<=", upper, int64(high)}
}

func newLine(line []byte) io.Reader { return bytes.NewReader(line) }
