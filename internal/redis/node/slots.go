package node

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// hashSlots is how many there are in a Redis Cluster.
const hashSlots = 16384

// ClusterArgs are the options of a server in cluster mode.
func ClusterArgs() []string { return []string{"--cluster-enabled", "yes"} }

// HighestClusterPort is the highest port that a server in cluster mode can have: its bus is at
// that port + 10000.
const HighestClusterPort = 65535 - 10000

// ServeAllSlots makes the server at addr, which is in cluster mode and empty, a Redis Cluster
// of one node, and returns once it serves. That takes 2 s: Redis gives a master that has just
// started the time to hear of a successor.
func ServeAllSlots(ctx context.Context, addr string) error {
	return Admin(ctx, addr, func(conn *wire.Conn) error {
		command := []string{"CLUSTER", "ADDSLOTS"} // ADDSLOTSRANGE needs Redis 7
		for slot := range hashSlots {
			command = append(command, strconv.Itoa(slot))
		}
		if _, err := Do(ctx, conn, command...); err != nil {
			return err
		}
		pause := time.NewTicker(10 * time.Millisecond)
		defer pause.Stop()
		for {
			info, err := Do(ctx, conn, "CLUSTER", "INFO")
			if err != nil || strings.Contains(info.Text(), "cluster_state:ok") {
				return err
			}
			select {
			case <-pause.C:
			case <-ctx.Done():
				return fmt.Errorf("the cluster does not serve yet: %w", context.Cause(ctx))
			}
		}
	})
}
