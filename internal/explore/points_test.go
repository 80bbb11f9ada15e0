package explore

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
)

// TestPoints: what is counted as met are the commands at which deviations are played, and the others have their reason.
func TestPoints(t *testing.T) {
	for _, c := range []struct {
		lock, program string
		has           func(Points) bool
	}{
		{"setnx-px-lua", "once", func(n Points) bool { return n.Met() == n.Sent && n.Sent > 3 }},
		{"rw-hash", "slots", func(n Points) bool { return n.Met() == 0 && n.Steps == n.Sent && n.Sent > 3 }},
		{"setnx-px-spin", "waiting", func(n Points) bool { return n.Polls > 1 && n.Masters == 0 }},
		{"redlock", "once", func(n Points) bool { return n.Masters > 4 && n.Met() > 1 }},
	} {
		lock, err := libraries.Catalogue().Find(c.lock)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Programs(lock, resource.None)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(p Program) bool { return p.Name == c.program })
		e := &explorer{lock: lock, Options: Options{Play: InProcess(), Shards: 2, Shard: 1}}
		s := e.fairWeather(t.Context(), all[i])
		if s == nil {
			t.Fatalf("%s: %v", c.program, e.found.GivenUp)
		}
		n, met := s.points(), map[Point]bool{}
		for _, d := range s.space.first {
			met[d.Point] = true
		}
		if n.Met() != len(met) || !c.has(n) {
			t.Errorf("%s, %s: %+v; deviations are played at %d commands", c.lock, c.program, n, len(met))
		}
	}
}
