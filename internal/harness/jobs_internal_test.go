package harness

import "testing"

func TestJobs(t *testing.T) {
	const plenty = 64 << 30
	for _, tc := range []struct {
		backend    Backend
		workers    bool
		processors int
		free       int64
		want       int
	}{
		{Embedded(), false, 6, 0, 6}, // virtual time needs next to no memory
		{Process(), false, 1, plenty, 8},
		{Process(), false, 2, plenty, 16},
		{Process(), false, 64, plenty, 32},
		{Process(), true, 2, plenty, 8},
		{Process(), false, 2, 1 << 30, 4},
		{Process(), false, 2, 1 << 20, 1}, // one can always be tried
		{External(Servers{}), false, 1, plenty, 4},
		{External(Servers{}), true, 1, plenty, 2},
	} {
		if got := jobs(tc.backend, tc.workers, tc.processors, tc.free); got != tc.want {
			t.Errorf("%s, %+v: %d", tc.backend.Name, tc, got)
		}
	}
	if got := Jobs(t.Context(), Process(), false); got < 1 || got > 32 {
		t.Errorf("on this machine: %d", got)
	}
}
