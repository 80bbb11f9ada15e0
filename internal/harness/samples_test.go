package harness_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestSamples: a run on real servers keeps what they and lockbench took, also of servers
// that died and came back, and one in virtual time keeps nothing.
func TestSamples(t *testing.T) {
	locktest.NeedRedis(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	load := harness.Load{Clients: 2, Limit: 2 * time.Second, Nemesis: []string{"restart"}}
	cfg, err := harness.ForWorkload(load, find(t, "setnx-px-lua"), resource.None, harness.Process(), 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Out = t.TempDir()
	res := run(t, cfg)
	for _, n := range res.Meta.Notes {
		if strings.Contains(n, "measured") {
			t.Error(n)
		}
	}
	file, err := os.Open(filepath.Join(res.Dir, histories.SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	samples, err := histories.ReadSamples(file, histories.SamplesFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := histories.Sum(samples); !slices.Equal(got, res.Meta.Usage) {
		t.Errorf("the samples sum up to %v, and run.json has %v", got, res.Meta.Usage)
	}
	var names []string
	for _, u := range res.Meta.Usage {
		names = append(names, u.Process)
		if u.Samples < 2 || u.Over <= 0 || u.CPU < 0 || u.Resident <= 0 || u.Threads < 1 {
			t.Errorf("used: %+v", u)
		}
	}
	if got := strings.Join(names, " "); got != "lockbench master register" {
		t.Errorf("sampled %s", got)
	}
	pids := map[int]bool{}
	for _, s := range samples {
		pids[s.PID] = true
	}
	if len(pids) < 4 {
		t.Errorf("%d processes were seen, want that of lockbench and of the register and two of the master", len(pids))
	}

	cfg = contend(t, "setnx-px-lua", harness.Embedded(), 2, 2)
	cfg.Out = t.TempDir()
	res = run(t, cfg)
	if _, err := os.Stat(filepath.Join(res.Dir, histories.SamplesFile)); err == nil || len(res.Meta.Usage) > 0 {
		t.Errorf("a run in virtual time has samples: %v, %v", err, res.Meta.Usage)
	}
}
