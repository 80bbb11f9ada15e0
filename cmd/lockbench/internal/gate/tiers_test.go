package gate_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestOwnFaults puts every lock of the catalogue through all scenarios, as its user would: a
// sound one must have no fault of its own, a broken one must have some. What they are is kept in
// testdata/own-faults.txt.
func TestOwnFaults(t *testing.T) {
	effort.Long(t)
	plan, err := gate.NewMatrix(gate.Options{Seed: 1}, libraries.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Play(t.Context(), 2, gate.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, lock := range libraries.Catalogue() {
		var faults, unknown []string
		for _, row := range res.Rows {
			if row.Lock != lock.Name {
				continue
			}
			switch row.Outcome {
			case gate.Unexpected:
				var broken []string
				for _, p := range row.Violated() {
					if slices.ContainsFunc(row.Findings(), func(f gate.Finding) bool { return f.Property == p }) {
						broken = append(broken, string(p))
					}
				}
				faults = append(faults, row.ID+" "+strings.Join(broken, ", "))
			case gate.Unknown, gate.Failed:
				unknown = append(unknown, fmt.Sprintf("%s %s %s", row.ID, row.Outcome, row.Reason))
			}
		}
		if lock.Sound != (len(faults) == 0) {
			t.Errorf("%s: sound is %v, and its own faults are %q", lock.Name, lock.Sound, faults)
		}
		if lock.Sound && len(unknown) > 0 {
			t.Errorf("%s is sound, and cannot be judged: %q", lock.Name, unknown)
		}
		fmt.Fprintf(&b, "%s: %s\n", lock.Name, lock.Class())
		for _, f := range faults {
			fmt.Fprintf(&b, "\t%s\n", f)
		}
	}
	const golden = "testdata/own-faults.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("own faults are not those of %s (-update writes it anew):\n%s", golden, got)
	}
}
