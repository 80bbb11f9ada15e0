package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// PowerLossF is a server that loses its power and with it what was not on the disk yet.
const PowerLossF histories.F = "power-loss"

// powerLoss is a server whose machine loses power while its append-only file is synced
// once a second: it comes back without its last writes (P21, P51). It is simulated: a
// kill -9 alone loses nothing, so what is written between Start and Stop is cut off the
// file. Stop kills the server and starts it again. lock are the keys to look for.
func powerLoss(c cluster.PowerCutter, clock Clock, node string, lock cluster.Place) Fault {
	return Fault{
		F: PowerLossF, Target: node, Plan: fmt.Sprintf("what it writes is no longer synced, and then power is lost (simulated; %s)", aof(c, cluster.FsyncEverySec)),
		Simulated: true,
		Start: func(ctx context.Context) (string, error) {
			if err := c.Persist(ctx, node, cluster.FsyncEverySec); err != nil {
				return "", err
			}
			return "", c.StopSyncing(ctx, node)
		},
		Stop: func(ctx context.Context) (string, error) {
			from := clock.Now()
			loss, err := c.LosePower(ctx, node)
			if err != nil {
				return "", err
			}
			keys, err := c.Recover(ctx, node)
			if err != nil {
				return "", err
			}
			missing := lacks(keys, loss.Had, lock, clock.Now().Sub(from))
			return fmt.Sprintf("%s cut off, %s, back %s", loss.Cut, away(clock, from), missing), nil
		},
	}
}

// lacks says what a server that was away has not got any more of the lock's keys that it
// had. A key whose time ran out meanwhile was not lost.
func lacks(has, had []cluster.KeyState, lock cluster.Place, away time.Duration) string {
	var gone, older []string
	for _, k := range had {
		at := slices.IndexFunc(has, func(h cluster.KeyState) bool { return h.Key == k.Key && h.Database == k.Database })
		switch {
		case !lock.Has(k):
		case at < 0 && (k.TTL == histories.NoTTL || k.TTL > away):
			gone = append(gone, k.Key)
		case at >= 0 && (has[at].Value != k.Value || has[at].Type != k.Type):
			older = append(older, k.Key)
		}
	}
	var parts []string
	if len(gone) > 0 {
		parts = append(parts, "without "+strings.Join(gone, ", "))
	}
	if len(older) > 0 {
		parts = append(parts, "with an older "+strings.Join(older, ", "))
	}
	if len(parts) == 0 {
		return "with every key of the lock that it had"
	}
	return strings.Join(parts, ", ")
}

func powerLossKind() Kind {
	return Kind{
		Name: "power-loss", Title: "a server of the lock loses power and comes back without its last writes", F: PowerLossF,
		Longest:     time.Second, // a file that is synced once a second lacks no more
		Unsupported: needsAOF,
		Means: func(c cluster.Cluster) string {
			return fmt.Sprintf("simulated: the last writes are cut off (%s)", aof(c.(cluster.Persister), cluster.FsyncEverySec))
		},
		Hits:   HitsServer,
		Begins: "{server}: what is written from here on does not reach the disk",
		Ends:   "{server}: loses its power, and comes back with what the disk had",
		Make: func(s Scene, t Target) (Fault, error) {
			return onServer(wantFile, func(c cluster.PowerCutter, node string) Fault { return powerLoss(c, s.Clock, node, s.Kept) })(s, t)
		},
		Pick: pickServer,
	}
}
