package node

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// severLimit bounds the wait for a replica to notice that its stream has ended.
const severLimit = 5 * time.Second

// severed returns once the replica of f says that it is not connected to its master. A
// replica that is dead, stopped or promoted is not asked.
func (r *Replication) severed(ctx context.Context, f *feed) error {
	addr, paused, err := r.locate(f.replica)
	if err != nil || paused || f.isPromoted() {
		return nil //nolint:nilerror // nobody to ask
	}
	ctx, cancel := context.WithTimeoutCause(ctx, severLimit, fmt.Errorf("%s still follows %s after %v", f.replica, f.master, severLimit))
	defer cancel()
	return Admin(ctx, addr, func(conn *wire.Conn) error {
		pause := time.NewTicker(poll)
		defer pause.Stop()
		for {
			// A replica answers: slave, host, port, state, offset.
			role, err := Do(ctx, conn, "ROLE")
			if err != nil || len(role.Elems) != 5 || role.Elems[3].Text() != "connected" {
				return err
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-pause.C:
			}
		}
	})
}
