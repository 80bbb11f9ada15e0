package process

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/node"
)

func TestSweep(t *testing.T) {
	me, err := node.Self()
	must(t, err)
	reused := me // the same id, another process
	reused.Started -= (2 * node.StartSlack).Milliseconds()
	again := me // the same process, read a little differently
	again.Started += (node.StartSlack / 2).Milliseconds()
	ended := node.Owner{PID: math.MaxInt32, Started: me.Started, Host: me.Host}
	elsewhere := ended
	elsewhere.Host += "-other"

	tests := []struct {
		name  string
		dir   string
		owner *node.Owner
		gone  bool
	}{
		{"own", "lockbench-1-a", &me, false},
		{"own, slack", "lockbench-1-b", &again, false},
		{"dead", "lockbench-1-c", &ended, true},
		{"id used again", "lockbench-1-d", &reused, true},
		{"another host", "lockbench-1-e", &elsewhere, false},
		{"no marker", "lockbench-1-f", nil, false},
		{"empty marker", "lockbench-1-g", &node.Owner{}, false},
		{"another name", "other-1-a", &ended, false},
	}
	parent := t.TempDir()
	for _, tt := range tests {
		dir := filepath.Join(parent, tt.dir)
		must(t, os.MkdirAll(filepath.Join(dir, "master"), 0o700))
		if tt.owner == nil {
			continue
		}
		mark, err := json.Marshal(tt.owner)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, markerName), mark, 0o600))
	}
	sweep(parent, me.Host, &lineLog{})
	for _, tt := range tests {
		_, err := os.Stat(filepath.Join(parent, tt.dir))
		if gone := os.IsNotExist(err); gone != tt.gone {
			t.Errorf("%s: removed %v, want %v", tt.name, gone, tt.gone)
		}
	}
}

func TestNewWorkDirIsOwned(t *testing.T) {
	parent := t.TempDir()
	dir, err := newWorkDir(parent, &lineLog{})
	must(t, err)
	sweep(parent, mustHost(t), &lineLog{})
	mark, err := os.ReadFile(filepath.Join(dir, markerName))
	must(t, err)
	var o node.Owner
	must(t, json.Unmarshal(mark, &o))
	if o.PID != int32(os.Getpid()) || time.UnixMilli(o.Started).After(time.Now()) {
		t.Errorf("marker is %s", mark)
	}
}

func mustHost(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	must(t, err)
	return host
}
