package harness

import (
	"maps"
	"slices"

	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// scripted reports whether the servers know all scripts from the beginning. In virtual time they do, and a run takes half the time of
// one whose clients send them ahead.
func (c Config) scripted() bool { return c.Backend.Virtual() }

// scripts are those that the servers know from the beginning.
func (c Config) scripts() []string {
	if !c.scripted() {
		return nil
	}
	read, write, enter := resource.Scripts()
	return append(slices.Sorted(maps.Values(locks.Scripts())), read, write, enter)
}
