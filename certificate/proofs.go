package certificate

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// The kinds of proofs.
const (
	ByOverlap     = "overlap"     // two had the key at once
	ByTokens      = "tokens"      // a token does not rise
	ByUnseen      = "unseen"      // an access found a version that its attempt had not seen
	ByStale       = "stale"       // a write with a lower token than the resource had seen
	ByTwins       = "twins"       // two increments, or two winners, of one number
	ByMissing     = "missing"     // a counter shows less than it had shown
	ByCalls       = "calls"       // no order explains the calls of the attempts
	ByExplanation = "explanation" // of a pass: an order explains all calls on locks
	ByBeliefs     = "beliefs"     // of a pass: nobody is granted what another believes to have
	ByVersions    = "versions"    // of a pass: every access finds the version that its attempt knows
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
)

// proves are the rules that a kind of proof is of.
func proves(kind string) []string {
	switch kind {
	case ByOverlap:
		return []string{mutualExclusion, leaseExclusion, leaseHonoured}
	case ByTokens:
		return []string{fencing}
	case ByUnseen:
		return []string{resourceSafety}
	case ByStale:
		return []string{resourceSafety, fencing}
	case ByTwins:
		return []string{counterSafety, singleWinner}
	case ByMissing:
		return []string{counterSafety}
	case ByCalls:
		return []string{leaseHonoured, ownership, truthfulReplies, fencing}
	case ByExplanation:
		return passesBy()
	case ByBeliefs:
		return []string{mutualExclusion, leaseExclusion}
	case ByVersions:
		return []string{resourceSafety}
	}
	return nil
}

// maxEvents is how many events, and how many attempts, a verdict may name.
const maxEvents = 100

func newProof(v *Verdict) (proof, error) {
	if !slices.Contains(proves(v.Proof), v.Rule) {
		return nil, fmt.Errorf("a proof of the kind %q proves nothing of this rule", v.Proof)
	}
	if len(v.Events) > maxEvents || len(v.Attempts) > maxEvents {
		return nil, fmt.Errorf("it names %d events and %d attempts, want %d at most", len(v.Events), len(v.Attempts), maxEvents)
	}
	if slices.Contains([]string{ByExplanation, ByBeliefs, ByVersions}, v.Proof) {
		return newPass(v)
	}
	if v.Verdict != Fail {
		return nil, fmt.Errorf("the verdict is %q, want %q of a proof of the kind %q", v.Verdict, Fail, v.Proof)
	}
	switch v.Proof {
	case ByOverlap:
		return newOverlap(v)
	case ByTokens:
		return newTokens(v)
	case ByTwins:
		return newTwins(v)
	case ByMissing:
		return newMissing(v)
	case ByStale:
		return newStale(v)
	case ByCalls:
		return newCalls(v)
	}
	return newUnseen(v)
}

// roles returns the indexes of the events that v names, which are to have these roles, in this order.
func roles(v *Verdict, want ...string) ([]int, error) {
	var found []string
	var indexes []int
	for _, n := range v.Events {
		found, indexes = append(found, n.Role), append(indexes, n.Index)
	}
	if !slices.Equal(found, want) {
		return nil, fmt.Errorf("it names the events %q, want %q", found, want)
	}
	return indexes, nil
}

// answers are the calls whose answers have some indexes.
type answers struct {
	wanted []int
	found  []call // at the place of its index
}

func newAnswers(indexes ...int) answers {
	return answers{indexes, make([]call, len(indexes))}
}

func (a *answers) take(c *call) {
	for i, index := range a.wanted {
		if c.answer.Index == index {
			a.found[i] = *c
		}
	}
}

// accepted returns the calls if all were found, are on a key, and were accepted.
func (a *answers) accepted(v *Verdict) ([]call, error) {
	for i, c := range a.found {
		if c.answer.Type != histories.OK || c.invoke.Key != v.Key {
			return nil, fmt.Errorf("event %d (%s) is no accepted call on %q", a.wanted[i], v.Events[i].Role, v.Key)
		}
	}
	return a.found, nil
}

// of says whether the attempts that v names are those of the calls, in this order.
func of(v *Verdict, calls ...call) error {
	var found []uint64
	for _, c := range calls {
		if !slices.Contains(found, c.invoke.Attempt) {
			found = append(found, c.invoke.Attempt)
		}
	}
	if !slices.Equal(found, v.Attempts) {
		return fmt.Errorf("it is of the attempts %d, want %d", v.Attempts, found)
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
