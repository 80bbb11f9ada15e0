package harness

import (
	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/workloads"
)

// kept are the keys, and where the lock says that it keeps the locks on them.
func (c Config) kept() []workloads.Key {
	var keys []workloads.Key
	for _, name := range c.keys() {
		names := []string{name}
		if c.Lock.Keys != nil {
			names = c.Lock.Keys(name)
		}
		keys = append(keys, workloads.Key{Name: name, Kept: cluster.Place{Database: c.Lock.Database, Names: names}})
	}
	return keys
}
