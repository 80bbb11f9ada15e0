package certificate_test

import (
	"bytes"
	"testing"

	"github.com/lockbench/lockbench/certificate"
)

// TestOverlaps: two attempts had the key at once, or what is named does not prove it.
func TestOverlaps(t *testing.T) {
	const twice = `
		A acquire invoke 0 100
		A acquire ok 10
		B acquire invoke 20 100
		B acquire ok 30
		A release invoke 40
		A release ok 50`
	const released = `
		A acquire invoke 0 1000
		A acquire ok 10
		A release invoke 15
		B acquire invoke 20 1000
		B acquire ok 30
		A release ok 50`
	const crashed = `
		A acquire invoke 0 1000
		A acquire ok 10
		A crash info 15
		B acquire invoke 20 1000
		B acquire ok 30`
	const late = `
		A acquire invoke 0 100
		A acquire ok 10
		B acquire invoke 50 100
		B acquire ok 97`
	const extended = `
		A acquire invoke 0 100
		A acquire ok 10
		A extend invoke 20 1000
		A extend ok 30
		B acquire invoke 500 1000
		B acquire ok 510`
	const shortened = `
		A acquire invoke 0 1000
		A acquire ok 10
		A extend invoke 20 50
		A extend info 30
		B acquire invoke 80 1000
		B acquire ok 90`
	const refused = `
		A acquire invoke 0 1000
		A acquire ok 10
		A extend invoke 20 50
		B acquire invoke 80 1000
		B acquire ok 90
		A extend fail 95`
	const surfaced = `
		A acquire invoke 0 1000
		B acquire invoke 5 1000
		A acquire info 10
		B acquire ok 20
		C acquire invoke 21 1000
		C acquire fail 22`
	for _, c := range []struct {
		name, rule, history string
		held, granted       int
		proven              bool
	}{
		{"held twice", "mutual-exclusion", twice, 1, 3, true},
		{"the lease runs", "lease-honoured", twice, 1, 3, true},
		{"no deadline was told", "lease-exclusion", twice, 1, 3, true},
		{"the other way round", "mutual-exclusion", twice, 3, 1, false},
		{"an invocation", "mutual-exclusion", twice, 0, 3, false},
		{"a release", "mutual-exclusion", twice, 5, 3, false},
		{"no such event", "mutual-exclusion", twice, 1, 77, false},
		{"a release was invoked", "mutual-exclusion", released, 1, 4, false},
		{"and may have ended the lease", "lease-honoured", released, 1, 4, false},
		{"a crash ends a belief", "mutual-exclusion", crashed, 1, 4, false},
		{"and no lease", "lease-honoured", crashed, 1, 4, true},
		{"a lease is over by 1 % and 2 ms", "lease-honoured", late, 1, 3, false},
		{"a belief goes on", "mutual-exclusion", late, 1, 3, true},
		{"extended", "lease-honoured", extended, 3, 5, true},
		{"the first lease is over", "lease-honoured", extended, 1, 5, false},
		{"an extend may have shortened it", "lease-honoured", shortened, 1, 5, false},
		{"an extend was refused later", "lease-honoured", refused, 1, 4, true},
		{"of unknown outcome", "mutual-exclusion", surfaced, 2, 3, false},
	} {
		attempts := []uint64{1, 2}
		if c.held > c.granted {
			attempts = []uint64{2, 1}
		}
		_, errs, err := certificate.Prove(bytes.NewReader(script(t, c.history)), certificate.Certificate{Proven: []certificate.Verdict{{
			Rule: c.rule, Verdict: certificate.Fail, Proof: certificate.ByOverlap, Key: "k", Attempts: attempts,
			Events: []certificate.Named{{Role: "held", Index: c.held}, {Role: "granted", Index: c.granted}},
		}}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if (errs[0] == nil) != c.proven {
			t.Errorf("%s: %v, want it proven: %v", c.name, errs[0], c.proven)
		}
	}
}
