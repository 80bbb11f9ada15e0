package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Demote makes node follow the Primary of its shard and returns once it says that it is a
// replica. discarded is how many bytes of the stream that both of them knew, or of what node
// wrote since, the Primary never had.
func (r *Replication) Demote(ctx context.Context, node string) (discarded int64, err error) {
	shard, ok := cluster.ShardOf(r.nodes, node)
	if !ok {
		return 0, Unknown(node, r.nodes)
	}
	primary := r.Primary(shard)
	if primary == node {
		return 0, errors.New("it is the primary of its shard; promote another one first")
	}
	left := r.latest(primary) // the stream that the primary left when it was promoted
	host, port, err := r.doors.Address(ctx, node, primary)
	if err != nil {
		return 0, err
	}
	err = r.admin(ctx, node, func(conn *wire.Conn) error {
		own, err := Info(ctx, conn, "replication", "master_repl_offset")
		if err != nil {
			return err
		}
		if left != nil && (left.master == node || left.master == r.Master(node)) { // they shared a stream
			left.mu.Lock()
			discarded = max(0, own-left.have)
			left.mu.Unlock()
		}
		return becomeReplica(ctx, conn, host, port)
	})
	if err != nil {
		return 0, err
	}
	r.follows(node, primary)
	return discarded, nil
}

// follows notes that node is a replica of master.
func (r *Replication) follows(node, master string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.feeds[node]; f == nil || f.master != master || f.isPromoted() {
		r.feeds[node] = &feed{replica: node, master: master}
	}
}

// becomeReplica makes a server a replica and returns once it says that it is one.
func becomeReplica(ctx context.Context, conn *wire.Conn, host, port string) error {
	if _, err := Do(ctx, conn, "REPLICAOF", host, port); err != nil {
		return err
	}
	return awaitRole(ctx, conn, "slave")
}

// awaitRole returns once a server says that it has the role.
func awaitRole(ctx context.Context, conn *wire.Conn, want string) error {
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		role, err := Do(ctx, conn, "ROLE")
		if err != nil {
			return err
		}
		if len(role.Elems) > 0 && role.Elems[0].Text() == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("want role %s, got %v: %w", want, role, context.Cause(ctx))
		case <-pause.C:
		}
	}
}
