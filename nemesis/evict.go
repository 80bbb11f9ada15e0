package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// EvictF is a server that throws keys away because its memory is full.
const EvictF histories.F = "evict"

// evictProbe is a key to write when memory is full.
const evictProbe = "lockbench:evict"

// evict fills the memory of a server whose policy is allkeys-lru: by CONFIG SET maxmemory
// 1, so that every key goes (P50). Both settings are put back at once; what was evicted
// stays gone. Clients that write in between are refused with OOM.
func evict(c cluster.Commander, node string) Fault {
	return Fault{
		F: EvictF, Target: node, Plan: "memory is full: maxmemory 1, allkeys-lru",
		Start: func(ctx context.Context) (seen string, err error) {
			before, err := number(ctx, c, node, "DBSIZE")
			if err != nil {
				return "", err
			}
			for _, s := range []struct{ name, value string }{{"maxmemory-policy", "allkeys-lru"}, {"maxmemory", "1"}} {
				old, err := setting(ctx, c, node, s.name)
				if err != nil {
					return "", err
				}
				defer func() {
					_, e := c.Do(ctx, node, "CONFIG", "SET", s.name, old)
					err = errors.Join(err, e)
				}()
				if _, err := c.Do(ctx, node, "CONFIG", "SET", s.name, s.value); err != nil {
					return "", err
				}
			}
			// Keys are evicted before a write, and this one finds no memory all the same.
			_, err = c.Do(ctx, node, "SET", evictProbe, "1", "PX", "1000")
			switch {
			case err == nil:
				return "", errors.New("a write into full memory: want OOM, got OK")
			case !isOOM(err):
				return "", err
			}
			left, err := number(ctx, c, node, "DBSIZE")
			if err == nil && before > 0 && left >= before {
				err = fmt.Errorf("nothing was evicted: %s before, %d after", keys(before), left)
			}
			return fmt.Sprintf("%s before, %d after", keys(before), left), err
		},
	}
}

// evictionCommander is a deployment whose servers do not know maxmemory.
type evictionCommander interface {
	cluster.Commander
	cluster.EvictionSimulator
}

// simulatedEviction deletes every key of a server that does not know maxmemory.
func simulatedEviction(c evictionCommander, node string) Fault {
	return Fault{
		F: EvictF, Target: node, Plan: "memory is full (simulated)", Simulated: true,
		Start: func(ctx context.Context) (string, error) {
			n, err := c.SimulateEviction(ctx, node)
			if err != nil {
				return "", err
			}
			if left, err := number(ctx, c, node, "DBSIZE"); err != nil || left > 0 {
				return "", errors.Join(err, fmt.Errorf("want no keys left, got %d", left))
			}
			return fmt.Sprintf("%s deleted (simulated)", keys(n)), err
		},
	}
}

func evictKind() Kind {
	return Kind{
		Name: "evict", Title: "a server of the lock evicts all keys for want of memory", F: EvictF, AtOnce: true, Unsupported: needsCommands,
		Means: func(c cluster.Cluster) string {
			if _, ok := c.(cluster.EvictionSimulator); ok {
				return "simulated: keys are deleted"
			}
			return "maxmemory 1, allkeys-lru"
		},
		Hits:   HitsServer,
		Begins: "{server} runs out of memory and evicts what it can",
		Make: func(s Scene, t Target) (Fault, error) {
			if _, ok := s.Cluster.(evictionCommander); ok {
				return onServer(wantMemory, simulatedEviction)(s, t)
			}
			return onServer(wantMemory, evict)(s, t)
		},
		Pick: pickServer,
	}
}
