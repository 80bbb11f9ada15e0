package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	psutil "github.com/shirou/gopsutil/v3/process"
)

// The temporary directory of a cluster is dirPrefix<pid>-<random>. The file
// markerName in it names its owner; a directory without it is never touched.
const (
	dirPrefix  = "lockbench-"
	markerName = ".lockbench"
)

// startSlack is by how much two readings of one process's start time may differ:
// they are computed from the time since boot.
const startSlack = 5 * time.Second

// owner is the process that a temporary directory belongs to. A process id alone
// is not enough: ids are used again, and containers that share a directory count
// their processes each from 1.
type owner struct {
	PID     int32  `json:"pid"`
	Started int64  `json:"started"` // milliseconds since the epoch
	Host    string `json:"host"`
}

// self is the running process.
func self() (owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return owner{}, err
	}
	pid := int32(os.Getpid())
	p, err := psutil.NewProcess(pid)
	if err != nil {
		return owner{}, err
	}
	started, err := p.CreateTime()
	return owner{PID: pid, Started: started, Host: host}, err
}

// gone says whether the owner has certainly ended. host is the name of this host.
func (o owner) gone(host string) bool {
	if o.Host != host || o.PID <= 0 {
		return false
	}
	p, err := psutil.NewProcess(o.PID)
	if err != nil {
		return errors.Is(err, psutil.ErrorProcessNotRunning)
	}
	started, err := p.CreateTime()
	if err != nil {
		return false
	}
	return (time.Duration(started-o.Started) * time.Millisecond).Abs() > startSlack
}

// newWorkDir makes a temporary directory in parent, after removing those that dead
// runs left there.
func newWorkDir(parent string, log *lineLog) (dir string, err error) {
	me, err := self()
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
		var o owner
		if json.Unmarshal(mark, &o) != nil || !o.gone(host) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			log.printf("remove the stale directory of process %d: %v", o.PID, err)
			continue
		}
		log.printf("removed the stale directory %s of process %d", dir, o.PID)
	}
}
