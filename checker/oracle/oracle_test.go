package oracle

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/effort"
	"github.com/lockbench/lockbench/histories"
)

// TestOracleOfKnown: the oracle contradicts nothing that is known from reading a history.
func TestOracleOfKnown(t *testing.T) {
	for _, k := range knownHistories() {
		h, err := parse(k.history)
		if err != nil {
			t.Fatal(err)
		}
		if k.at != 0 || len(h) > maxCalls {
			continue
		}
		v := verdicts(h, new(room))
		for p, want := range k.want {
			if got := v[p]; got == mustFail && want == acquit || got == mustNot && want != acquit {
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
		for p, got := range verdicts(h, new(room)) {
			// A holder that outlives its lease breaks what is believed.
			if got != mustNot && p != checker.StrictExclusion && p != checker.LeaseExclusion {
				t.Fatalf("history %d of seed %d: %s %v, want %v: %v", n, seed, p, got, mustNot, h)
			}
		}
		if err := histories.Validate(h.events()); err != nil {
			t.Fatalf("history %d of seed %d: %v: %v", n, seed, err, h)
		}
	}
}
