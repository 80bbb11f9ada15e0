package nemesis

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/words"
)

func needsAOF(c cluster.Cluster) error {
	if _, ok := c.(cluster.PowerCutter); !ok {
		return errors.New("its servers cannot be told to keep a file, killed and started again")
	}
	return nil
}

// aof is what a server keeps its data in, for people.
func aof(c cluster.Persister, fsync cluster.Fsync) string {
	if c.SimulatedAOF() {
		return "simulated AOF"
	}
	return "AOF, appendfsync " + string(fsync)
}

// away says how long a server was gone, for people.
func away(clock Clock, since time.Time) string {
	return fmt.Sprint("away for ", clock.Now().Sub(since).Round(time.Millisecond))
}

// cameBack says what of the lock's keys is among those that a server came back with.
func cameBack(keys []cluster.KeyState, lock cluster.Place) string {
	switch ours := ofLock(keys, lock); {
	case len(keys) == 0:
		return "without any key"
	case len(ours) == 0:
		return fmt.Sprintf("with %s, none of them the lock's", words.Count(len(keys), "key"))
	default:
		return fmt.Sprintf("with %s, of the lock's %s", words.Count(len(keys), "key"), strings.Join(ours, ", "))
	}
}

func ofLock(keys []cluster.KeyState, lock cluster.Place) []string {
	var ours []string
	for _, k := range keys {
		if lock.Has(k) {
			ours = append(ours, k.Key)
		}
	}
	return ours
}
