package harness

import (
	"slices"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// setsClocks reports whether a run sets the clocks of servers. Real servers must be started
// for it, and others need not pay: a server that asks a library for the time is slower.
func (t Test) setsClocks() bool {
	return t.Clocks || slices.ContainsFunc(t.Nemesis, func(k nemesis.Kind) bool { return k.Clocks })
}

// clockNotes says how the clocks of real servers are set, or why they cannot be.
func clockNotes(servers cluster.Cluster) []string {
	s, ok := servers.(cluster.ClockSetter)
	if !ok {
		return nil
	}
	how, err := s.Clocks()
	if err != nil {
		return []string{"the clocks of servers cannot be set, so that jumps are logical and forward only: " + err.Error()}
	}
	return []string{"the clocks of servers are set " + how}
}
