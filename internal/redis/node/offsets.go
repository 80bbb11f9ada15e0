package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// Offsets returns, in bytes, how much of its master's stream replica has, and how
// much there was. A dead or paused node counts with what it had when it was last
// looked at: by LastLook, or at an earlier call. A promoted replica counts with what
// it had just before.
func (r *Replication) Offsets(ctx context.Context, replica string) (have, sent int64, err error) {
	f, err := r.feed(replica)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := r.links.Bound(ctx)
	defer cancel()
	if err := r.look(ctx, f); err != nil {
		return 0, 0, fmt.Errorf("offsets of %s: %w", replica, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have, f.sent, nil
}

// LastLook remembers the offsets that node alone can tell, before it falls silent. A
// node that does not answer in time is not waited for.
func (r *Replication) LastLook(ctx context.Context, node string) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	r.mu.Lock()
	r.last[node] = time.Now()
	r.mu.Unlock()
	for _, f := range r.all() {
		if f.replica == node || f.master == node {
			_ = r.look(ctx, f) // what is not seen now keeps its last value
		}
	}
}

// look asks both ends of f for their offsets and remembers them. A dead or stopped
// end keeps its last value, and so do both ends after a promotion.
func (r *Replication) look(ctx context.Context, f *feed) error {
	if f.isPromoted() {
		return nil
	}
	have, haveErr := r.offset(ctx, f.replica, "slave_repl_offset")
	sent, sentErr := r.offset(ctx, f.master, "master_repl_offset")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.promoted {
		return nil
	}
	if haveErr == nil {
		f.have = have
	}
	if sentErr == nil {
		f.sent = sent
	}
	return errors.Join(ignoreSilent(haveErr), ignoreSilent(sentErr))
}

// errSilent says that a node is dead or stopped, as intended, or does not know.
var errSilent = errors.New("node does not answer")

func ignoreSilent(err error) error {
	if errors.Is(err, errSilent) {
		return nil
	}
	return err
}

// offset asks node for one offset.
func (r *Replication) offset(ctx context.Context, node, field string) (n int64, err error) {
	addr, paused, err := r.locate(node)
	if err != nil || paused {
		return 0, errSilent
	}
	err = Admin(ctx, addr, func(conn *wire.Conn) error {
		n, err = Info(ctx, conn, "replication", field)
		return err
	})
	if errors.Is(err, ErrNoField) {
		err = errSilent // Sentinels have made a master of the replica, and its own numbers count
	}
	return n, err
}
