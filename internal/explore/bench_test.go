package explore_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
)

// BenchmarkRun plays a program of two clients that try once, one of three clients' sections, and the first with five masters.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ program, lock string }{{"once", "setnx-px-lua"}, {"sections", "setnx-px-lua"}, {"once", "redlock"}} {
		b.Run(c.program+"/"+c.lock, func(b *testing.B) {
			lock, backend := find(b, c.lock), harness.Embedded()
			all, err := explore.Programs(lock, resource.None)
			if err != nil {
				b.Fatal(err)
			}
			p := all[slices.IndexFunc(all, func(p explore.Program) bool { return p.Name == c.program })]
			b.ReportAllocs()
			for b.Loop() {
				if _, err := explore.Run(b.Context(), p, lock, backend); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
