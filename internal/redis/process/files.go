package process

import (
	"context"
	"os"
	"path/filepath"
)

// SimulatedAOF says no: the file is real. It may be asked of no cluster.
func (c *Cluster) SimulatedAOF() bool { return false }

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
