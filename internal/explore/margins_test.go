package explore

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
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

// TestMeasure: a margin is where a property first gives way, also if it holds again later, where bisection alone would step over that.
func TestMeasure(t *testing.T) {
	const ms = time.Millisecond
	lengths := (&measure{ttl: 3 * time.Second}).lengths(6 * time.Second)
	for name, c := range map[string]struct {
		holds func(time.Duration) bool
		want  Margin
	}{
		"always":           {func(time.Duration) bool { return true }, Margin{Survives: 6 * time.Second, Always: true}},
		"never":            {func(time.Duration) bool { return false }, Margin{Survives: -ms}},
		"at once":          {func(d time.Duration) bool { return d == 0 }, Margin{}},
		"a lease":          {func(d time.Duration) bool { return d <= 3011*ms }, Margin{Survives: 3011 * ms}},
		"nearly":           {func(d time.Duration) bool { return d < 6*time.Second }, Margin{Survives: 5999 * ms}},
		"a window":         {func(d time.Duration) bool { return d <= 150*ms || d > 301*ms }, Margin{Survives: 150 * ms, Again: true}},
		"only not without": {func(d time.Duration) bool { return d > 0 }, Margin{Survives: -ms, Again: true}},
	} {
		var got Margin
		if err := got.measure(lengths, func(d time.Duration) (bool, error) { return c.holds(d), nil }); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	if err := new(Margin).measure(lengths, func(time.Duration) (bool, error) { return false, context.Canceled }); err == nil {
		t.Error("what could not be played was measured")
	}
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
