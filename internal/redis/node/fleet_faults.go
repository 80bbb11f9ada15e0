package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// errRuns says that a server that was to be started is running.
var errRuns = errors.New("it is still running; kill it first")

// Kill stops node by SIGKILL and returns once it is gone. Its connections are closed
// and later dials are refused. A paused node can be killed.
func (f *Fleet[M]) Kill(ctx context.Context, name string) error {
	return f.Running(ctx, "kill", name, func(ctx context.Context, m M, _ string) error {
		f.Replication.LastLook(ctx, name)
		return m.Kill(ctx)
	})
}

// Restart starts a killed node again, empty, and returns once it answers. A replica
// follows its master again, unless it had been promoted; Sync waits until it has caught up.
func (f *Fleet[M]) Restart(ctx context.Context, name string) error {
	return f.start(ctx, "restart", name, func(ctx context.Context, m M) error { return m.Start(ctx) })
}

// start starts a node that does not run.
func (f *Fleet[M]) start(ctx context.Context, verb, name string, by func(context.Context, M) error) error {
	return f.Change(ctx, verb, name, func(ctx context.Context, m M) error {
		if runs(m) {
			return errRuns
		}
		ctx, cancel := context.WithTimeoutCause(ctx, f.StartLimit, fmt.Errorf("gave up after %v", f.StartLimit))
		defer cancel()
		if err := by(ctx, m); err != nil {
			return err
		}
		return f.Replication.Follow(ctx, name)
	})
}

// Pause lets node stand still and returns once it does. Its connections stay
// open and the kernel goes on accepting new ones.
func (f *Fleet[M]) Pause(ctx context.Context, name string) error {
	return f.Running(ctx, "pause", name, func(ctx context.Context, m M, _ string) error {
		if m.Paused() {
			return nil
		}
		f.Replication.LastLook(ctx, name)
		return m.Suspend(ctx)
	})
}

// Resume lets a paused node go on.
func (f *Fleet[M]) Resume(ctx context.Context, name string) error {
	return f.Running(ctx, "resume", name, func(ctx context.Context, m M, _ string) error {
		if !m.Paused() {
			return nil
		}
		return m.Resume(ctx)
	})
}

// Persist makes a running node keep an append-only file.
func (f *Fleet[M]) Persist(ctx context.Context, name string, fsync cluster.Fsync) error {
	return f.Running(ctx, "persist", name, func(ctx context.Context, m M, addr string) error {
		file, _, _ := m.AOF()
		return file.Persist(ctx, addr, fsync)
	})
}

// Recover starts a killed node again with its append-only file, and returns once it
// answers. A replica follows its master again, unless it had been promoted.
func (f *Fleet[M]) Recover(ctx context.Context, name string) (keys []cluster.KeyState, err error) {
	err = f.start(ctx, "recover", name, func(ctx context.Context, m M) error {
		file, _, _ := m.AOF()
		if err := file.Kept(); err != nil {
			return err
		}
		return m.Keep(ctx, func(ctx context.Context, addr string) (err error) {
			keys, err = All(ctx, addr)
			return err
		})
	})
	return keys, err
}

// StopSyncing remembers how long the append-only file of node is.
func (f *Fleet[M]) StopSyncing(ctx context.Context, name string) error {
	return f.Running(ctx, "stop syncing", name, func(ctx context.Context, m M, addr string) error {
		file, in, parts := m.AOF()
		return file.Mark(ctx, addr, in, parts)
	})
}

// LosePower kills node and cuts its append-only file back to what StopSyncing found.
func (f *Fleet[M]) LosePower(ctx context.Context, name string) (loss cluster.PowerLoss, err error) {
	err = f.Running(ctx, "cut the power of", name, func(ctx context.Context, m M, addr string) error {
		file, in, _ := m.AOF()
		if err := file.Marked(); err != nil {
			return err
		}
		f.Replication.LastLook(ctx, name)
		if loss.Had, err = Final(ctx, addr); err != nil {
			return err
		}
		if err := m.Kill(ctx); err != nil {
			return err
		}
		loss.Cut, err = file.CutBack(ctx, in)
		return err
	})
	return loss, err
}
