package docker

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/osproc"
)

func TestUsage(t *testing.T) {
	c := up(t, 1, 0)
	u, err := c.Usage(t.Context(), "master")
	must(t, err)
	if u.PID <= 0 || u.Stopped || u.CPU <= 0 || u.Resident < 1e6 || u.Threads < 1 {
		t.Errorf("used: %+v", u)
	}
	must(t, c.Pause(t.Context(), "master"))
	if pid, stopped, err := c.Stopped(t.Context(), "master"); err != nil || pid != u.PID || !stopped {
		t.Errorf("paused, and found process %d, stopped %v, %v", pid, stopped, err)
	}
	must(t, c.Resume(t.Context(), "master"))
	if _, stopped, err := c.Stopped(t.Context(), "master"); err != nil || stopped {
		t.Errorf("resumed, and found stopped %v, %v", stopped, err)
	}
	must(t, c.Kill(t.Context(), "master"))
	if u, err := c.Usage(t.Context(), "master"); err == nil {
		t.Errorf("a dead server uses %+v", u)
	}
}

// Both versions of control groups.
func TestReadStats(t *testing.T) {
	for name, files := range map[string]string{
		"1": `"total_inactive_file": 600, "inactive_file": 100`,
		"2": `"inactive_file": 600`,
	} {
		got, err := readStats(strings.NewReader(`{"pids_stats": {"current": 5}, "cpu_stats": {"cpu_usage": {"total_usage": 7}},
			"memory_stats": {"usage": 1000, "stats": {` + files + `}}}`))
		if want := (osproc.Usage{CPU: 7, Resident: 400, Threads: 5}); err != nil || got != want {
			t.Errorf("version %s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	if _, err := readStats(strings.NewReader("gone")); err == nil {
		t.Error("an answer without statistics was read")
	}
}
