package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

func TestUsed(t *testing.T) {
	r := runs(t)["failover"]
	r.Meta.Usage = []histories.Usage{
		{Process: "master", Samples: 9, Over: 2 * time.Second, CPU: 64 * time.Millisecond, Resident: 8_100_000, Threads: 5},
		{Process: "re\x1bplica", Samples: 2, Over: 20 * time.Millisecond, CPU: 10 * time.Millisecond, Resident: 1e9, Threads: 1},
	}
	got := text(t, r, report.Style{Width: 200})
	want := "Used:    master 3.2 % CPU, up to 8.1 MB and 5 threads; re"
	if !strings.Contains(got, want) || !strings.Contains(got, " 0.01 s CPU, up to 1000.0 MB and 1 thread.\n") || strings.Contains(got, "\x1b") {
		t.Errorf("want %q in:\n%s", want, got)
	}
	if got := text(t, runs(t)["failover"], report.Style{}); strings.Contains(got, "Used:") {
		t.Errorf("nothing was measured, and told:\n%s", got)
	}
}
