package certificate_test

import (
	"bytes"
	"testing"

	"github.com/lockbench/lockbench/certificate"
)

// TestBeliefs: an exclusion is proven to hold where nobody is granted what another believes to have.
func TestBeliefs(t *testing.T) {
	for _, c := range []struct {
		name, rule, history string
		proven              bool
	}{
		{"in turn", "mutual-exclusion", turn, true},
		{"a release on its way", "mutual-exclusion", "A acquire invoke 0\nA acquire ok 1\nA release invoke 2\nB acquire invoke 3\nB acquire ok 4\nA release ok 5", true},
		{"no release", "mutual-exclusion", "A acquire invoke 0\nA acquire ok 1\nB acquire invoke 3\nB acquire ok 4", false},
		{"no deadline", "lease-exclusion", "A acquire invoke 0\nA acquire ok 1\nB acquire invoke 3\nB acquire ok 4", false},
		{"a crash", "mutual-exclusion", "A acquire invoke 0\nA acquire ok 1\nA crash info 2\nB acquire invoke 3\nB acquire ok 4", true},
		{"a crash of another", "mutual-exclusion", "A acquire invoke 0\nA acquire ok 1\nC crash info 2\nB acquire invoke 3\nB acquire ok 4", false},
		{"a refusal", "mutual-exclusion", "A acquire invoke 0\nA acquire fail 1\nB acquire invoke 3\nB acquire ok 4", true},
	} {
		history := script(t, c.history)
		_, errs, err := certificate.Prove(bytes.NewReader(history), certificate.Certificate{Proven: []certificate.Verdict{
			{Rule: c.rule, Verdict: certificate.Pass, Proof: certificate.ByBeliefs},
			{Rule: "ownership", Verdict: certificate.Pass, Proof: certificate.ByBeliefs},
			{Rule: c.rule, Verdict: certificate.Pass, Proof: certificate.ByBeliefs, Key: "k"},
		}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if (errs[0] == nil) != c.proven {
			t.Errorf("%s: %v, want it proven: %v", c.name, errs[0], c.proven)
		}
		if errs[1] == nil || errs[2] == nil {
			t.Errorf("%s: proven of another rule, or of one key: %v, %v", c.name, errs[1], errs[2])
		}
	}
}
