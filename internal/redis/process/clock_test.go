package process

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// needClocks starts a cluster whose clocks can be set, or skips the test where there is no
// libfaketime.
func needClocks(tb testing.TB, masters, replicas int) *Cluster {
	tb.Helper()
	needServer(tb)
	c, err := New(tb.Context(), cluster.Topology{Masters: masters, Replicas: replicas}, Options{Dir: tb.TempDir(), Clocks: true})
	must(tb, err)
	tb.Cleanup(func() { must(tb, c.Close()) })
	if _, err := c.Clocks(); err != nil {
		if os.Getenv("LOCKBENCH_REQUIRE_FAKETIME") == "1" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	return c
}

// shows asks a server for its time. right is the middle of the call, and within half as
// long as it took.
func shows(tb testing.TB, c *Cluster, name string) (right, shown time.Time, within time.Duration) {
	tb.Helper()
	before := time.Now()
	reply, err := c.Do(tb.Context(), name, "TIME")
	must(tb, err)
	shown, err = cluster.ReadTime(reply)
	must(tb, err)
	within = time.Since(before) / 2
	return before.Add(within), shown, within + time.Millisecond
}

func wantAhead(tb testing.TB, c *Cluster, name string, want time.Duration) {
	tb.Helper()
	right, shown, within := shows(tb, c, name)
	if got := shown.Sub(right); (got - want).Abs() > within {
		tb.Errorf("the clock of %s is %v ahead, want %v ± %v", name, got, want, within)
	}
}

func TestClockJumps(t *testing.T) {
	c := needClocks(t, 2, 0)
	ctx := t.Context()
	conn := dial(t, c, "A", "n1")
	wantAhead(t, c, "n1", 0)

	mustDo(t, conn, "SET", "early", "v", "PX", "60000")
	mustDo(t, conn, "SET", "late", "v", "PX", "7200000")
	must(t, c.SetClock(ctx, "n1", time.Hour, 1))
	wantAhead(t, c, "n1", time.Hour)
	wantAhead(t, c, "n2", 0)
	if value(t, c, "n1", "early").Exists {
		t.Error("the clock jumped past a TTL and the key is still there")
	}
	if ttl := value(t, c, "n1", "late").TTL; ttl <= 0 || ttl > time.Hour {
		t.Errorf("a key of 2h has %v left, want 1h at most", ttl)
	}

	must(t, c.SetClock(ctx, "n1", 0, 1))
	wantAhead(t, c, "n1", 0)
	mustDo(t, conn, "SET", "brief", "v", "PX", "50")
	must(t, c.SetClock(ctx, "n1", -time.Hour, 1))
	wantAhead(t, c, "n1", -time.Hour)
	time.Sleep(60 * time.Millisecond)
	if k := value(t, c, "n1", "brief"); k.Exists && k.TTL < 59*time.Minute {
		t.Errorf("a key has %v left after the clock went back by 1h", k.TTL)
	}
	if ttl := value(t, c, "n1", "late").TTL; ttl < 2*time.Hour {
		t.Errorf("a key of 2h has %v left, want more", ttl)
	}
}

func TestClockRate(t *testing.T) {
	c := needClocks(t, 1, 1)
	ctx := t.Context()
	for _, rate := range []float64{100, 0.25} {
		before, shownBefore, within := shows(t, c, "master")
		must(t, c.SetClock(ctx, "master", 0, rate))
		right1, shown1, within1 := shows(t, c, "master")
		// Setting a rate is no jump: the clock goes on from where it was.
		drift := time.Duration((rate - 1) * float64(right1.Add(within1).Sub(before)))
		jump := shown1.Sub(right1) - shownBefore.Sub(before)
		exact := c.Machines["master"].current().clock.Within()
		slack := within + within1 + time.Duration(math.Abs(rate-1)*float64(exact))
		if jump < min(drift, 0)-slack || jump > max(drift, 0)+slack {
			t.Errorf("rate %v: the clock jumped by %v, where it drifts by %v and is set within %v", rate, jump, drift, exact)
		}
		time.Sleep(50 * time.Millisecond)
		right2, shown2, within2 := shows(t, c, "master")
		want := time.Duration(float64(right2.Sub(right1)) * rate)
		slack = time.Duration(max(rate, 1) * float64(within1+within2))
		if got := shown2.Sub(shown1); (got - want).Abs() > slack {
			t.Errorf("rate %v: the clock went %v in %v, want %v ± %v", rate, got, right2.Sub(right1), want, slack)
		}
		must(t, c.SetClock(ctx, "master", 0, 1))
		wantAhead(t, c, "master", 0)
	}
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "SET", "k", "v", "PX", "3600000")
	must(t, c.Sync(soon(t), "master")) // a wrong clock does no harm to replication
	must(t, c.SetClock(ctx, "master", 0, 1000))
	for patient := soon(t); value(t, c, "master", "k").Exists; time.Sleep(10 * time.Millisecond) {
		must(t, patient.Err())
	}
	must(t, c.Sync(soon(t), "master"))
	if value(t, c, "replica", "k").Exists {
		t.Error("the replica still has a key that has expired on the master")
	}
}

func TestARestartedServerHasTheRightClock(t *testing.T) {
	c := needClocks(t, 1, 0)
	ctx := t.Context()
	must(t, c.SetClock(ctx, "master", -time.Hour, 3))
	must(t, c.Kill(ctx, "master"))
	if err := c.SetClock(ctx, "master", 0, 1); err == nil {
		t.Error("the clock of a dead server was set")
	}
	must(t, c.Restart(ctx, "master"))
	wantAhead(t, c, "master", 0)
	must(t, c.SetClock(ctx, "master", time.Hour, 1))
	wantAhead(t, c, "master", time.Hour)
	if err := c.SetClock(ctx, "master", 0, -1); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("a clock that runs backwards: %v", err)
	}
}

// TestLibfaketimeLeavesNothing looks for the names that the library leaves behind when its
// process is killed.
func TestLibfaketimeLeavesNothing(t *testing.T) {
	c := needClocks(t, 1, 0)
	left := func(ids []int) (names []string) {
		for _, id := range ids {
			found, err := filepath.Glob(fmt.Sprintf("/dev/shm/*faketime_*_%d", id))
			must(t, err)
			names = append(names, found...)
		}
		return names
	}
	if names := left(pids(c)); len(names) > 0 {
		t.Errorf("while it runs: %v", names)
	}
	first := pids(c)
	must(t, c.Kill(t.Context(), "master"))
	must(t, c.Restart(t.Context(), "master"))
	second := pids(c)
	must(t, c.Close())
	if names := left(append(first, second...)); len(names) > 0 {
		t.Errorf("after it was killed: %v", names)
	}
}

func TestClocksNotAskedFor(t *testing.T) {
	c := up(t, 1, 0)
	if _, err := c.Clocks(); err == nil {
		t.Error("it says that clocks can be set")
	}
	if err := c.SetClock(t.Context(), "master", time.Hour, 1); err == nil {
		t.Error("a clock was set")
	}
	wantAhead(t, c, "master", 0)
}

func TestLibfaketimeOnTrial(t *testing.T) {
	needServer(t)
	prog, err := findProgram(t.Context(), "")
	must(t, err)
	bad := filepath.Join(t.TempDir(), "libfaketimeMT.so.1")
	must(t, os.WriteFile(bad, []byte("no library"), 0o600))
	if err := tryFaketime(t.Context(), prog, bad); err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("got %v, want an error that names %s", err, bad)
	}
}
