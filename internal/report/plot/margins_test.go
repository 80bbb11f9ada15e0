package plot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/plot"
)

// margin is one of a lease of 3 s, of which 6 s were looked at.
func margin(disturbance string, p checker.Property, survives time.Duration) report.Margin {
	return report.Margin{
		Disturbance: disturbance, Title: "a <" + disturbance + ">", Property: p, Survives: survives, Always: survives == 6*time.Second,
		Looked: 6 * time.Second, Lease: 3 * time.Second,
	}
}

// TestMargins: each lock has a bar in each row, as long as what it survives, and the words say the same.
func TestMargins(t *testing.T) {
	again := margin("pause", checker.Ownership, 150*time.Millisecond)
	again.Again = true
	all := []report.Measured{
		{Lock: "one", Margins: []report.Margin{margin("section", checker.LeaseExclusion, 6*time.Second), margin("pause", checker.LeaseExclusion, 3*time.Second), again}},
		{Lock: `two<"&`, Margins: []report.Margin{margin("pause", checker.LeaseExclusion, 6*time.Second), margin("pause", checker.Ownership, -1)}},
	}
	drawn := plot.Margins(all)
	if len(drawn) != 2 || drawn[0].Name != "margins-section" || drawn[0].SVG != "" || !strings.Contains(drawn[0].Summary, "Up to 2 T everything holds: lease exclusion.") {
		t.Fatalf("drew %+v; want two, and of the section, which everything survives, no picture", drawn)
	}
	pause := drawn[1]
	if err := oneElement(pause.SVG); err != nil {
		t.Error(err)
	}
	for want, n := range map[string]int{
		"H600V": 1, "H1200V": 1, "H30V": 1, // the bars
		`<path class="bad"`: 2 + 1, `<path class="bad max"`: 1 + 1, // what they do not reach, and the signs of the legend
		"M600 ": 3, // the lease, where a bar ends, and the mark of the axis
		">1 T<": 1, ">0.05 T<": 1, ">not even without<": 1,
	} {
		if got := strings.Count(pause.SVG, want); got != n {
			t.Errorf("the picture has %d times %s, want %d:\n%s", got, want, n, pause.SVG)
		}
	}
	const said = `Survived: lease exclusion 1 T with one (3000 ms); ownership 0.05 T with one (150 ms), and again under longer ones; ownership not even without with two<"&.`
	if pause.Summary != said {
		t.Errorf("said %q, want %q", pause.Summary, said)
	}
	if again := plot.Margins(all); fmt.Sprint(again) != fmt.Sprint(drawn) {
		t.Error("drawn twice, the same margins give two pictures")
	}
}
