package harness

import (
	"maps"
	"slices"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// scripts are those that the servers know from the beginning. In virtual time these are all of them, and a run takes half the time of
// one whose clients send them ahead.
func (c Config) scripts() []string {
	if !c.Backend.Virtual() {
		return nil
	}
	read, write, enter := resource.Scripts()
	return append(slices.Sorted(maps.Values(locks.Scripts())), read, write, enter)
}
