package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

var _ cluster.PowerCutter = (*Cluster)(nil)

const (
	dataDir = "/data"
	// keepFile in dataDir tells the next start to keep the append-only file, and holds the
	// options for that. A container that has ended can be given files and nothing else.
	keepFile = "keep-aof"
	// script is how a container begins: without what an earlier life left, unless it is to
	// be kept. Of the snapshots for replicas nothing ever is.
	script = `cd ` + dataDir + ` || exit 1
if [ -e ` + keepFile + ` ]; then
  set -- "$@" $(cat ` + keepFile + `)
  rm -f ` + keepFile + ` *.rdb
else
  rm -rf ./*
fi
exec "$@"`
)

// SimulatedAOF says no: the file is real.
func (c *Cluster) SimulatedAOF() bool { return false }

// Persist makes a running node keep an append-only file.
func (c *Cluster) Persist(ctx context.Context, name string, fsync cluster.Fsync) error {
	return c.change(ctx, "persist", name, func(ctx context.Context, s *server) error {
		if s.current() == nil {
			return node.NotRunning(name)
		}
		return s.aof.Persist(ctx, s.addr(), fsync)
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
		options := strings.Join(s.aof.Options(), " ")
		if err := (files{c, s}).write(ctx, keepFile, []byte(options)); err != nil {
			return err
		}
		return c.restart(ctx, s, func(ctx context.Context) (err error) {
			keys, err = node.All(ctx, s.addr())
			return err
		})
	})
	return keys, err
}

// StopSyncing remembers how long the append-only file of node is.
func (c *Cluster) StopSyncing(ctx context.Context, name string) error {
	return c.change(ctx, "stop syncing", name, func(ctx context.Context, s *server) error {
		if s.current() == nil {
			return node.NotRunning(name)
		}
		return s.aof.Mark(ctx, s.addr(), files{c, s}, true)
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
		if loss.Had, err = node.Final(ctx, s.addr()); err != nil {
			return err
		}
		if err := c.kill(ctx, s, r); err != nil {
			return err
		}
		loss.Cut, err = s.aof.CutBack(ctx, files{c, s})
		return err
	})
	return loss, err
}

// files are the files of a container, which may have ended.
type files struct {
	cluster *Cluster
	server  *server
}

// Read reads a file.
func (f files) Read(ctx context.Context, name string) (content []byte, err error) {
	err = call(ctx, "read a file of a container", func(ctx context.Context) error {
		file, err := f.cluster.engine.cli.CopyFromContainer(ctx, f.server.id(),
			client.CopyFromContainerOptions{SourcePath: path.Join(dataDir, name)})
		if err != nil {
			return err
		}
		defer func() { _ = file.Content.Close() }() // what was wanted of it has been read
		archive := tar.NewReader(file.Content)
		if _, err := archive.Next(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		content, err = io.ReadAll(archive)
		return err
	})
	return content, err
}

// Size is the length of a file.
func (f files) Size(ctx context.Context, name string) (size int64, err error) {
	err = call(ctx, "look at a file of a container", func(ctx context.Context) error {
		file, err := f.cluster.engine.cli.ContainerStatPath(ctx, f.server.id(),
			client.ContainerStatPathOptions{Path: path.Join(dataDir, name)})
		size = file.Stat.Size
		return err
	})
	return size, err
}

// Truncate writes a file anew, without its end.
func (f files) Truncate(ctx context.Context, name string, size int64) error {
	content, err := f.Read(ctx, name)
	if err != nil {
		return err
	}
	if int64(len(content)) < size {
		return fmt.Errorf("%s: want %d bytes or more, got %d", name, size, len(content))
	}
	return f.write(ctx, name, content[:size])
}

func (f files) write(ctx context.Context, name string, content []byte) error {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Name: path.Base(name), Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return call(ctx, "write a file of a container", func(ctx context.Context) error {
		_, err := f.cluster.engine.cli.CopyToContainer(ctx, f.server.id(),
			client.CopyToContainerOptions{DestinationPath: path.Join(dataDir, path.Dir(name)), Content: &archive})
		return err
	})
}
