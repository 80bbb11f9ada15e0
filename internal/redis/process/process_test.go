package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	psutil "github.com/shirou/gopsutil/v3/process"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/wire"
)

// requireEnv set to 1 makes a missing redis-server a failure.
const requireEnv = "LOCKBENCH_REQUIRE_REDIS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(harnessEnv); dir != "" {
		os.Exit(harness(dir))
	}
	goleak.VerifyTestMain(m)
}

// needServer skips the test where there is no redis-server.
func needServer(tb testing.TB) {
	tb.Helper()
	effort.Real(tb)
	_, err := findProgram(tb.Context(), "")
	var missing *MissingError
	if errors.As(err, &missing) && os.Getenv(requireEnv) != "1" {
		tb.Skip(missing)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// up starts a cluster that ends with the test.
func up(tb testing.TB, masters, replicas int) *Cluster {
	tb.Helper()
	return upAs(tb, cluster.Topology{Masters: masters, Replicas: replicas})
}

// upAs is up for a topology with more to it.
func upAs(tb testing.TB, topo cluster.Topology) *Cluster {
	tb.Helper()
	needServer(tb)
	c, err := New(tb.Context(), topo, Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return c
}

// dial connects client to node through the wire.
func dial(tb testing.TB, c *Cluster, client, node string) *wire.Conn {
	tb.Helper()
	nc, err := c.Dial(tb.Context(), client, node)
	if err != nil {
		tb.Fatal(err)
	}
	conn := wire.NewConn(nc)
	tb.Cleanup(func() { _ = conn.Close() })
	return conn
}

// mustDo sends one command and returns the text of its reply.
func mustDo(tb testing.TB, conn *wire.Conn, args ...string) string {
	tb.Helper()
	reply, err := node.Do(tb.Context(), conn, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return reply.Text()
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// soon is a context for waits that would hang where the cluster is broken.
func soon(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 20*time.Second)
	tb.Cleanup(cancel)
	return ctx
}

// value returns what node holds under key.
func value(tb testing.TB, c *Cluster, node, key string) cluster.KeyState {
	tb.Helper()
	states, err := c.Inspect(tb.Context(), node, 0, key)
	must(tb, err)
	return states[0]
}

func pids(c *Cluster) []int {
	var ids []int
	for _, s := range c.Machines {
		if r := s.current(); r != nil {
			ids = append(ids, r.process.Pid)
		}
	}
	return ids
}

// dead reports whether a process has ended. One that nobody has waited for yet counts.
func dead(tb testing.TB, pid int) bool {
	tb.Helper()
	p, err := psutil.NewProcess(int32(pid))
	if err != nil {
		return true
	}
	status, err := p.Status()
	return err != nil || slices.Contains(status, psutil.Zombie)
}

func TestStartAndStop(t *testing.T) {
	for _, masters := range []int{1, 5} {
		t.Run(fmt.Sprint(masters), func(t *testing.T) {
			c := up(t, masters, 0)
			for shard := range masters {
				if got, want := c.Primary(shard), c.Nodes()[shard].Name; got != want {
					t.Errorf("Primary(%d) = %q, want %q", shard, got, want)
				}
			}
			if got := c.Primary(masters); got != "" {
				t.Errorf("Primary(%d) = %q, want none", masters, got)
			}
			for _, n := range c.Nodes() {
				if got := mustDo(t, dial(t, c, "A", n.Name), "PING"); got != "PONG" {
					t.Errorf("%s: PING answers %q", n.Name, got)
				}
			}
			must(t, c.Close())
			must(t, c.Close())
			for _, n := range c.Nodes() {
				if c.Alive(n.Name) {
					t.Errorf("%s is alive after Close", n.Name)
				}
			}
			if _, err := c.Dial(t.Context(), "A", c.Primary(0)); err == nil {
				t.Error("Dial after Close succeeded")
			}
			if err := c.Restart(t.Context(), c.Primary(0)); !errors.Is(err, node.ErrClosed) {
				t.Errorf("Restart after Close: %v, want %v", err, node.ErrClosed)
			}
		})
	}
}

func TestBadTopology(t *testing.T) {
	for _, topo := range []cluster.Topology{{}, {Masters: 1, Replicas: -1}} {
		if c, err := New(t.Context(), topo, Options{Dir: t.TempDir()}); err == nil {
			must(t, c.Close())
			t.Errorf("New(%+v) succeeded", topo)
		}
	}
}

func TestUnknownNode(t *testing.T) {
	c := up(t, 1, 0)
	ctx := t.Context()
	_, dialErr := c.Dial(ctx, "A", "n7")
	_, inspectErr := c.Inspect(ctx, "n7", 0, "k")
	_, _, offsetsErr := c.Offsets(ctx, "n7")
	for name, err := range map[string]error{
		"Dial": dialErr, "Inspect": inspectErr, "Offsets": offsetsErr,
		"Kill": c.Kill(ctx, "n7"), "Restart": c.Restart(ctx, "n7"), "Pause": c.Pause(ctx, "n7"),
		"Resume": c.Resume(ctx, "n7"), "Sync": c.Sync(ctx, "n7"), "Promote": c.Promote(ctx, "n7"),
		"CutReplication": c.CutReplication(ctx, "n7"), "HealReplication": c.HealReplication(ctx, "n7"),
	} {
		if want := `no node "n7" in this cluster; it has master, register`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if err := c.Promote(ctx, "master"); err == nil || !strings.Contains(err.Error(), "want a replica") {
		t.Errorf("Promote(master): %v", err)
	}
	if c.Alive("n7") {
		t.Error("an unknown node is alive")
	}
}

func TestInspect(t *testing.T) {
	c := up(t, 1, 0)
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "SET", "forever", "v")
	mustDo(t, conn, "SET", "leased", "token", "PX", "3600000")
	mustDo(t, conn, "HSET", "hash", "f", "1")

	got, err := c.Inspect(t.Context(), "master", 0, "forever", "leased", "hash", "absent")
	must(t, err)
	if ttl := got[1].TTL; ttl <= 0 || ttl > time.Hour {
		t.Errorf("TTL of leased = %v, want one within the hour", ttl)
	}
	got[1].TTL = 0
	want := []cluster.KeyState{
		{Key: "forever", Exists: true, Type: "string", Value: "v", TTL: histories.NoTTL},
		{Key: "leased", Exists: true, Type: "string", Value: "token"},
		{Key: "hash", Exists: true, Type: "hash", TTL: histories.NoTTL, Fields: []cluster.Field{{Name: "f", Value: "1"}}},
		{Key: "absent"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if none, err := c.Inspect(t.Context(), "master", 0); err != nil || len(none) != 0 {
		t.Errorf("Inspect of no keys: %v, %v", none, err)
	}
}

func TestSamePairSameLink(t *testing.T) {
	c := up(t, 1, 0)
	link := c.Link("A", "master")
	if again := c.Link("A", "master"); link != again {
		t.Error("two links between A and master")
	}
	if link == c.Link("B", "master") || link == c.Link("A", "register") {
		t.Error("two pairs share a link")
	}
}

// A connection outlives the context that it was dialed with.
func TestDialContextBoundsTheDialOnly(t *testing.T) {
	c := up(t, 1, 0)
	ctx, cancel := context.WithCancel(t.Context())
	nc, err := c.Dial(ctx, "A", "master")
	must(t, err)
	conn := wire.NewConn(nc)
	defer func() { must(t, conn.Close()) }()
	cancel()
	mustDo(t, conn, "PING")
	if _, err := c.Dial(ctx, "A", "master"); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial with an ended context: %v", err)
	}
}

func TestClustersSideBySide(t *testing.T) {
	needServer(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			c, err := New(t.Context(), cluster.Topology{Masters: 1, Replicas: 1}, Options{Dir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}()
			nc, err := c.Dial(t.Context(), "A", "master")
			if err != nil {
				t.Error(err)
				return
			}
			conn := wire.NewConn(nc)
			defer func() { _ = conn.Close() }()
			mine := fmt.Sprint(i)
			reply, err := node.Do(t.Context(), conn, "SET", "k", mine, "NX", "GET")
			if err != nil || !reply.Null {
				t.Errorf("cluster %d is not its own: %+v, %v", i, reply, err)
			}
		})
	}
	wg.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	needServer(t)
	before := goleak.IgnoreCurrent()
	dir := t.TempDir()
	c, err := New(t.Context(), cluster.Topology{Masters: 1, Replicas: 1}, Options{Dir: dir})
	must(t, err)
	ids := pids(c)
	if len(ids) != 3 {
		t.Errorf("%d processes, want 3", len(ids))
	}
	nc, err := c.Dial(t.Context(), "A", "master") // left open
	must(t, err)
	must(t, c.Pause(t.Context(), "replica"))
	must(t, c.Close())

	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Error("a client's connection is open after Close")
	}
	for _, pid := range ids {
		if alive, err := psutil.PidExists(int32(pid)); alive || err != nil {
			t.Errorf("process %d is left: %v, %v", pid, alive, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	goleak.VerifyNone(t, before)
}

// Close ends what is under way.
func TestCloseEndsWaiters(t *testing.T) {
	c := up(t, 1, 1)
	must(t, c.CutReplication(t.Context(), "replica"))
	synced := make(chan error, 1)
	go func() { synced <- c.Sync(t.Context(), "master") }()
	must(t, c.Close())
	if err := <-synced; err == nil {
		t.Error("Sync over a cut link succeeded")
	}
}

// A server that is being started when Close comes is killed like the others.
func TestCloseWaitsForAStart(t *testing.T) {
	c := up(t, 1, 0)
	must(t, c.Kill(t.Context(), "master"))
	s := c.Machines["master"]
	s.turn <- struct{}{} // as Restart does
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	<-c.Links.Ended()
	must(t, s.Start(t.Context()))
	r := s.current()
	<-s.turn
	must(t, <-closed)
	if !r.ended() {
		t.Errorf("server %d is left after Close", r.process.Pid)
	}
}

// fakeServer writes a program that says it is redis-server 7.0 and then does script.
func fakeServer(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redis-server")
	text := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo Redis server v=7.0.15; exit; fi\n" + script + "\n"
	must(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// started is a log that waits for a server's word that it runs.
type started struct {
	lines chan string
}

func (s started) Write(p []byte) (int, error) {
	select {
	case s.lines <- string(p):
	default:
	}
	return len(p), nil
}

func TestCancelDuringNew(t *testing.T) {
	before := goleak.IgnoreCurrent()
	server := fakeServer(t, "echo pid $$; exec sleep 1000")
	dir := t.TempDir()
	log := started{lines: make(chan string, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := New(ctx, cluster.Topology{Masters: 1, Replicas: 1}, Options{Server: server, Dir: dir, Log: log})
		result <- err
	}()
	var ids []int
	for range 3 {
		var node string
		var pid int
		if _, err := fmt.Sscanf(<-log.lines, "%s pid %d", &node, &pid); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, pid)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("New: %v, want %v", err, context.Canceled)
	}
	for _, pid := range ids {
		if !dead(t, pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	goleak.VerifyNone(t, before)
}

func TestServerThatFails(t *testing.T) {
	server := fakeServer(t, "echo bad option; exit 3")
	t.Chdir(filepath.Dir(server))
	for _, path := range []string{server, "." + string(filepath.Separator) + filepath.Base(server)} {
		_, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Server: path, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "bad option") {
			t.Errorf("New on %s: %v, want exit status and output", path, err)
		}
	}
}

// The port was free when it was picked, and another cluster's server took it.
func TestPortTaken(t *testing.T) {
	c := up(t, 2, 0)
	theirs := c.Machines["n2"].port()
	dir := t.TempDir()
	r, err := startRun(c.prog, c.launcher, loopback, theirs, dir, c.prog.args(theirs, dir), &output{node: "n1", log: c.log})
	must(t, err)
	defer func() { must(t, r.kill()) }()
	if err := r.ready(t.Context()); !errors.Is(err, errPortTaken) {
		t.Errorf("ready: %v, want %v", err, errPortTaken)
	}
	mustDo(t, dial(t, c, "A", "n2"), "PING")
}
