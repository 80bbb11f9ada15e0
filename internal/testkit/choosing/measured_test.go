package choosing

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// measuredFile has what was measured on real servers: it is not the same each time, and so it is kept and not checked.
const measuredFile = "testdata/measured.json"

// times is how often an acquire and its release are measured, after one of each.
const times = 200

// timing is how long an acquire and its release take together.
type timing struct {
	Lock   string        `json:"lock"`
	Guard  string        `json:"guard"`
	Median time.Duration `json:"median_ns"`
	Slow   time.Duration `json:"p99_ns"`
}

// measurement is what was measured on real servers, by situation.
type measurement struct {
	Date   string            `json:"date"`
	Server string            `json:"server"` // its version
	On     string            `json:"on"`
	Rows   map[string]timing `json:"rows"`
}

func readMeasured(t *testing.T) (m measurement) {
	t.Helper()
	text, err := os.ReadFile(measuredFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%s: %v", measuredFile, err)
	}
	return m
}

// of is what was measured of a row, if that was of its lock.
func (m measurement) of(r row) (timing, error) {
	found := m.Rows[r.situation]
	if found.Lock != r.lock || found.Guard != r.guard.String() || found.Median <= 0 {
		return found, fmt.Errorf("%s has no figure of %s with guard %s for %q; make choosing-measured writes it", measuredFile, r.lock, r.guard, r.situation)
	}
	return found, nil
}

// section tells what was measured on real servers, beside what the same costs in virtual time.
func (m measurement) section(b *strings.Builder, all []entry, in tongue) {
	const text = "An acquire and its release, %d times each, measured on %s with %s (%s): servers and client on one machine, and through the wire of lockbench, which records them. " +
		"These figures differ from run to run, so they are kept with their date, no test compares them, and `make choosing-measured` measures them again. " +
		"The last column is compared at every commit: the same in virtual time, where the way to each server takes %d ms."
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", in.Say("On real servers"), in.Sayf(text, times, m.Date, m.Server, m.On, oneWay.Milliseconds()))
	b.WriteString(header(in.Each("you have", "lock", "half of them take at most", "99 of 100 take at most", "in virtual time")...))
	for _, e := range all {
		b.WriteString(cells(in.Say(e.situation), "`"+e.lock+"`", milliseconds(e.real.Median), milliseconds(e.real.Slow), milliseconds(e.took)))
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// onServers measures a row on real servers.
func onServers(t *testing.T, r row) timing {
	t.Helper()
	cfg, err := script(r, r.guard, harness.Process(), strings.TrimSuffix(strings.Repeat("A acquire; A release; ", times+1), "; "))
	if err != nil {
		t.Fatal(err)
	}
	cfg.TTL, cfg.Sentinels = 10*time.Second, r.servers.sentinels
	calls, _, err := played(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for i := 2; i+1 < len(calls); i += 2 {
		acquire, release := calls[i], calls[i+1]
		took = append(took, acquire.Complete.Time-acquire.Invoke.Time+release.Complete.Time-release.Invoke.Time)
	}
	if len(took) < times {
		t.Fatalf("%d acquires of %s were measured, want %d", len(took), r.lock, times)
	}
	slices.Sort(took)
	return timing{r.lock, r.guard.String(), took[len(took)/2], took[len(took)*99/100]}
}

// TestMeasured measures each row on real servers, and with -measure writes that down.
func TestMeasured(t *testing.T) {
	if !*remeasure {
		t.Skip("optional: real servers are measured by make choosing-measured")
	}
	locktest.NeedRedis(t)
	out, err := exec.CommandContext(t.Context(), "redis-server", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`v=(\S+)`).FindSubmatch(out)
	if version == nil {
		t.Fatalf("redis-server tells no version: %s", out)
	}
	m := measurement{
		Date: time.Now().UTC().Format(time.DateOnly), Server: "redis-server " + string(version[1]),
		On: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Rows: map[string]timing{},
	}
	for _, r := range rows() {
		m.Rows[r.situation] = onServers(t, r)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(measuredFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
