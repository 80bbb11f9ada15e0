package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

var _ cluster.PowerCutter = (*Cluster)(nil)

// SimulatedAOF says no: the file is real.
func (c *Cluster) SimulatedAOF() bool { return false }

// Persist makes a running node keep an append-only file.
func (c *Cluster) Persist(ctx context.Context, name string, fsync cluster.Fsync) error {
	return c.change(ctx, "persist", name, func(ctx context.Context, s *server) error {
		r := s.current()
		if r == nil {
			return node.NotRunning(name)
		}
		return s.aof.Persist(ctx, r.addr(), fsync)
	})
}

// Recover starts a killed node again with its append-only file, and returns once it
// answers. A replica follows its master again, unless it had been promoted.
func (c *Cluster) Recover(ctx context.Context, name string) (keys []cluster.KeyState, err error) {
	err = c.change(ctx, "recover", name, func(ctx context.Context, s *server) error {
		if s.current() != nil {
			return errors.New("it is still running; kill it first")
		}
		if err := s.aof.Kept(); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
		defer cancel()
		look := func(ctx context.Context, addr string) (err error) {
			keys, err = node.All(ctx, addr)
			return err
		}
		if err := s.launch(ctx, c.prog, c.launcher, c.log, look); err != nil {
			return err
		}
		return c.repl.Follow(ctx, name)
	})
	return keys, err
}

// StopSyncing remembers how long the append-only file of node is.
func (c *Cluster) StopSyncing(ctx context.Context, name string) error {
	return c.change(ctx, "stop syncing", name, func(ctx context.Context, s *server) error {
		r := s.current()
		if r == nil {
			return node.NotRunning(name)
		}
		return s.aof.Mark(ctx, r.addr(), files(s.dir), c.prog.atLeast(7, 0))
	})
}

// LosePower kills node and cuts its append-only file back to what StopSyncing found.
func (c *Cluster) LosePower(ctx context.Context, name string) (loss cluster.PowerLoss, err error) {
	err = c.change(ctx, "cut the power of", name, func(ctx context.Context, s *server) error {
		r := s.current()
		if r == nil {
			return node.NotRunning(name)
		}
		if err := s.aof.Marked(); err != nil {
			return err
		}
		c.repl.LastLook(ctx, name)
		if loss.Had, err = node.Final(ctx, r.addr()); err != nil {
			return err
		}
		if err := r.kill(); err != nil {
			return err
		}
		loss.Cut, err = s.aof.CutBack(ctx, files(s.dir))
		return err
	})
	return loss, err
}

// files are the files of the server in a directory.
type files string

func (dir files) in(path string) string { return filepath.Join(string(dir), path) }

// Read reads a file.
func (dir files) Read(_ context.Context, path string) ([]byte, error) {
	return os.ReadFile(dir.in(path))
}

// Size is the length of a file.
func (dir files) Size(_ context.Context, path string) (int64, error) {
	info, err := os.Stat(dir.in(path))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Truncate cuts a file off.
func (dir files) Truncate(_ context.Context, path string, size int64) error {
	return os.Truncate(dir.in(path), size)
}
