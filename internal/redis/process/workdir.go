package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/node"
)

// The temporary directory of a cluster is dirPrefix<pid>-<random>. The file
// markerName in it names its owner; a directory without it is never touched.
const (
	dirPrefix  = "lockbench-"
	markerName = ".lockbench"
)

// newWorkDir makes a temporary directory in parent, after removing those that dead
// runs left there.
func newWorkDir(parent string, log *lineLog) (dir string, err error) {
	me, err := node.Self()
	if err != nil {
		return "", fmt.Errorf("look at the own process: %w", err)
	}
	if parent == "" {
		parent = os.TempDir()
	}
	// The servers run elsewhere, so that they need the full path.
	if parent, err = filepath.Abs(parent); err != nil {
		return "", err
	}
	sweep(parent, me.Host, log)
	dir, err = os.MkdirTemp(parent, fmt.Sprintf("%s%d-*", dirPrefix, me.PID))
	if err != nil {
		return "", err
	}
	mark, err := json.Marshal(me)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, markerName), mark, 0o600)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// sweep removes the temporary directories of dead runs. What cannot be removed, for
// example because it is another user's, stays.
func sweep(parent, host string, log *lineLog) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making the directory fails next, and says why
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		mark, err := os.ReadFile(filepath.Join(dir, markerName))
		if err != nil {
			continue
		}
		var o node.Owner
		if json.Unmarshal(mark, &o) != nil || !o.Gone(host) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			log.printf("remove the stale directory of process %d: %v", o.PID, err)
			continue
		}
		log.printf("removed the stale directory %s of process %d", dir, o.PID)
	}
}
