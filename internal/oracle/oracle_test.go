package oracle

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate/orders"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestOracleOfKnown: the oracle contradicts nothing that is known from reading a history.
func TestOracleOfKnown(t *testing.T) {
	for _, k := range knownHistories() {
		h, err := parse(k.history)
		if err != nil {
			t.Fatal(err)
		}
		if k.at != 0 || len(h) > orders.MaxCalls {
			continue
		}
		v := verdicts(h, newJudge())
		for p, want := range k.want {
			if got := v[p]; got == orders.MustFail && want == acquit || got == orders.MustNot && want != acquit {
				t.Errorf("%s: %s %v, want %s: %s", k.name, p, got, want, k.history)
			}
		}
	}
}

// TestOracleOfSound: the oracle finds an explanation of whatever a sound lock answered.
func TestOracleOfSound(t *testing.T) {
	const seed = 20251101
	for n := range uint64(effort.Count(10_000, 100_000)) {
		h, sound := generate(seed, n)
		if !sound {
			continue
		}
		for p, got := range verdicts(h, newJudge()) {
			// A holder that outlives its lease breaks what is believed. Of leases that nobody asked for nothing is said.
			open := p == checker.LeaseHonoured && got == orders.Free && !slices.ContainsFunc(h, func(c call) bool { return c.f == histories.Acquire && c.ttl > 0 })
			if got != orders.MustNot && !open && p != checker.StrictExclusion && p != checker.LeaseExclusion {
				t.Fatalf("history %d of seed %d: %s %v, want %v: %v", n, seed, p, got, orders.MustNot, h)
			}
		}
		if err := histories.Validate(h.events()); err != nil {
			t.Fatalf("history %d of seed %d: %v: %v", n, seed, err, h)
		}
	}
}
