package docker

import (
	"os"
	"testing"
)

func TestUsage(t *testing.T) {
	c := up(t, 1, 0)
	u, err := c.Usage(t.Context(), "master")
	for patient := soon(t); err == nil && u.CPU == 0; u, err = c.Usage(t.Context(), "master") { // the kernel counts ticks
		must(t, patient.Err())
	}
	must(t, err)
	if u.PID <= 0 || u.Stopped || u.CPU < 0 || u.Resident < 1e6 || u.Threads < 1 {
		t.Errorf("used: %+v", u)
	}
	if id := c.Machines["master"].id(); isHere(os.Getpid(), id) || isHere(-1, id) || isHere(u.PID, "") {
		t.Error("any process is taken for the server")
	}
	// The engine keeps account by events of its own. One of a pause that is over may come late.
	standsStill := func(want bool) {
		t.Helper()
		for patient := soon(t); ; {
			must(t, patient.Err())
			pid, stopped, err := c.Stopped(t.Context(), "master")
			must(t, err)
			if pid != u.PID {
				t.Errorf("found process %d, want %d", pid, u.PID)
			}
			if stopped == want {
				return
			}
		}
	}
	must(t, c.Pause(t.Context(), "master"))
	standsStill(true)
	must(t, c.Resume(t.Context(), "master"))
	standsStill(false)
	r := c.Machines["master"].current()
	must(t, c.Kill(t.Context(), "master"))
	if !r.dead.Load() {
		t.Error("a process that can be seen from here was left to the engine to kill")
	}
	if u, err := c.Usage(t.Context(), "master"); err == nil {
		t.Errorf("a dead server uses %+v", u)
	}
}
