package node

import (
	"errors"
	"os"
	"slices"
	"time"

	psutil "github.com/shirou/gopsutil/v3/process"
)

// StartSlack is by how much two readings of one process's start time may differ:
// they are computed from the time since boot.
const StartSlack = 5 * time.Second

// Owner is the process that something outside it belongs to: a temporary directory, a
// container. A process id alone is not enough: ids are used again, and containers
// that share a directory or an engine count their processes each from 1.
type Owner struct {
	PID     int32  `json:"pid"`
	Started int64  `json:"started"` // milliseconds since the epoch
	Host    string `json:"host"`
}

// Self is the running process.
func Self() (Owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return Owner{}, err
	}
	pid := int32(os.Getpid())
	p, err := psutil.NewProcess(pid)
	if err != nil {
		return Owner{}, err
	}
	started, err := p.CreateTime()
	return Owner{PID: pid, Started: started, Host: host}, err
}

// Gone reports whether the owner has certainly ended, be it that nobody has waited for it yet,
// as where the first process of a container does not. host is the name of this host; of
// another host's processes nothing is certain.
func (o Owner) Gone(host string) bool {
	if o.Host != host || o.PID <= 0 {
		return false
	}
	p, err := psutil.NewProcess(o.PID)
	if err != nil {
		return errors.Is(err, psutil.ErrorProcessNotRunning)
	}
	if status, err := p.Status(); err == nil && slices.Contains(status, psutil.Zombie) {
		return true
	}
	started, err := p.CreateTime()
	if err != nil {
		return false
	}
	return (time.Duration(started-o.Started) * time.Millisecond).Abs() > StartSlack
}
