package explore

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// measureOf measures a disturbance, whose file it names, of a lock.
func measureOf(t *testing.T, lock, file string) *measure {
	t.Helper()
	spec, err := libraries.Catalogue().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	src, err := disturbances.ReadFile("margins/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return &measure{text: string(src), lock: spec, guard: resource.None, backend: harness.Embedded(), known: map[time.Duration]checker.Report{}}
}

// TestMarginsAreMargins plays lengths between those that the measurement looks at: up to a margin the property holds, and beyond it it does
// not, unless the margin says that it may again.
func TestMarginsAreMargins(t *testing.T) {
	effort.Long(t)
	entries, err := disturbances.ReadDir("margins")
	if err != nil {
		t.Fatal(err)
	}
	for _, lock := range []string{"setnx-px-lua", "redlock"} {
		for _, e := range entries {
			m := measureOf(t, lock, e.Name())
			all, err := m.all(t.Context())
			if err != nil {
				t.Fatalf("%s, %s: %v", lock, e.Name(), err)
			}
			points := effort.Count(9, 400)
			for i := range points {
				d := (m.furthest() * time.Duration(2*i+1) / time.Duration(2*points)).Truncate(resolution)
				for _, of := range all {
					switch holds, err := m.holds(t.Context(), of.Property, d); {
					case err != nil:
						t.Fatal(err)
					case d <= of.Survives && !holds:
						t.Errorf("%s, %s: %s is survived up to %v, and broken at %v", lock, m.name, of.Property, of.Survives, d)
					case d > of.Survives && holds && !of.Again:
						t.Errorf("%s, %s: %s is survived up to %v, and at %v again, which is not said", lock, m.name, of.Property, of.Survives, d)
					}
				}
			}
		}
	}
}

// TestHoldsAgain: Redlock gives up a server after 150 ms. While a release is under way for a little longer than that, somebody who was refused leaves a
// key behind there; under a longer one there is no such key. Bisection alone would step over that.
func TestHoldsAgain(t *testing.T) {
	m := measureOf(t, "redlock", "04-release.schedule")
	all, err := m.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range all {
		if of.Property == checker.TruthfulReplies && of.Survives == 150*time.Millisecond && of.Again {
			return
		}
	}
	t.Errorf("%+v; want that truthful replies survive 150 ms, and some that are longer again", all)
}

// TestMarginToTheMillisecond: a margin is the last length that holds, also where it is that of no stride.
func TestMarginToTheMillisecond(t *testing.T) {
	m := measureOf(t, "setnx-px-lua", "01-section.schedule")
	all, err := m.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for all[i].Property != checker.StrictExclusion {
		i++
	}
	of := all[i]
	for d, want := range map[time.Duration]bool{of.Survives: true, of.Survives + resolution: false} {
		if holds, err := m.holds(t.Context(), of.Property, d); err != nil || holds != want {
			t.Errorf("a section of %v: it holds %v, %v; want %v, as the margin is %v", d, holds, err, want, of.Survives)
		}
	}
	if of.Survives < of.Lease || of.Survives > of.Lease+of.Lease/10 || of.Always {
		t.Errorf("%+v; want about a lease, of which it is known that a longer section is one too many", of)
	}
}
