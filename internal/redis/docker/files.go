package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/moby/moby/client"
)

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

// SimulatedAOF says no: the file is real. It may be asked of no cluster.
func (c *Cluster) SimulatedAOF() bool { return false }

// files are the files of a container, which may have ended.
type files struct{ *server }

// Read reads a file.
func (f files) Read(ctx context.Context, name string) (content []byte, err error) {
	err = call(ctx, "read a file of a container", func(ctx context.Context) error {
		file, err := f.cluster.engine.cli.CopyFromContainer(ctx, f.id(),
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
		file, err := f.cluster.engine.cli.ContainerStatPath(ctx, f.id(),
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
		_, err := f.cluster.engine.cli.CopyToContainer(ctx, f.id(),
			client.CopyToContainerOptions{DestinationPath: path.Join(dataDir, path.Dir(name)), Content: &archive})
		return err
	})
}
