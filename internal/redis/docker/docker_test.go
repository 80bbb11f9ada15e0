package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// needDocker skips the test where there is no engine, or no image and no way to it.
func needDocker(tb testing.TB) {
	tb.Helper()
	effort.Real(tb)
	err := EnsureImage(tb.Context(), os.Stderr)
	if missing, ok := errors.AsType[*MissingError](err); ok {
		effort.NoDocker(tb, missing)
	}
	must(tb, err)
}

// up starts a cluster that ends with the test and leaves nothing.
func up(tb testing.TB, masters, replicas int) *Cluster {
	tb.Helper()
	return upAs(tb, cluster.Topology{Masters: masters, Replicas: replicas})
}

// upAs is up for a topology with more to it.
func upAs(tb testing.TB, topo cluster.Topology) *Cluster {
	tb.Helper()
	needDocker(tb)
	c, err := New(tb.Context(), topo, Options{})
	must(tb, err)
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
		nothingLeft(tb, c.ID())
	})
	return c
}

// nothingLeft looks for containers and networks of run.
func nothingLeft(tb testing.TB, run string) {
	tb.Helper()
	for _, t := range things(tb, runLabel+"="+run) {
		tb.Errorf("left behind: %s %s", t.kind, t.name)
	}
}

// things lists what the engine has under label.
func things(tb testing.TB, label string) []thing {
	tb.Helper()
	e, err := connect(context.Background())
	must(tb, err)
	defer func() { must(tb, e.close()) }()
	list, err := e.list(context.Background(), label)
	must(tb, err)
	return list
}

// dial connects client to node through the wire.
func dial(tb testing.TB, c *Cluster, client, node string) *wire.Conn {
	tb.Helper()
	nc, err := c.Dial(tb.Context(), client, node)
	must(tb, err)
	conn := wire.NewConn(nc)
	tb.Cleanup(func() { _ = conn.Close() })
	return conn
}

// mustDo sends one command and returns the text of its reply.
func mustDo(tb testing.TB, conn *wire.Conn, args ...string) string {
	tb.Helper()
	reply, err := node.Do(tb.Context(), conn, args...)
	must(tb, err)
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
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	tb.Cleanup(cancel)
	return ctx
}

// value returns what node holds under key.
func value(tb testing.TB, c *Cluster, node, key string) cluster.KeyState {
	tb.Helper()
	states, err := c.Inspect(soon(tb), node, 0, key)
	must(tb, err)
	return states[0]
}

func TestStartAndStop(t *testing.T) {
	for _, topo := range []cluster.Topology{{Masters: 1, Replicas: 1}, {Masters: 5}} {
		t.Run(topo.String(), func(t *testing.T) {
			c := up(t, topo.Masters, topo.Replicas)
			for _, n := range c.Nodes() {
				if got := mustDo(t, dial(t, c, "A", n.Name), "PING"); got != "PONG" {
					t.Errorf("%s: PING answers %q", n.Name, got)
				}
				if !c.Alive(n.Name) {
					t.Errorf("%s is dead", n.Name)
				}
			}
			if got, want := len(things(t, runLabel+"="+c.ID())), len(c.Nodes())+1; got != want {
				t.Errorf("%d containers and networks with the label, want %d", got, want)
			}
			must(t, c.Close())
			must(t, c.Close())
			nothingLeft(t, c.ID())
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

func TestClustersSideBySide(t *testing.T) {
	needDocker(t)
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			c, err := New(t.Context(), cluster.Topology{Masters: 1, Replicas: 1}, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				nothingLeft(t, c.ID())
			}()
			nc, err := c.Dial(t.Context(), "A", "master")
			if err != nil {
				t.Error(err)
				return
			}
			conn := wire.NewConn(nc)
			defer func() { _ = conn.Close() }()
			reply, err := node.Do(t.Context(), conn, "SET", "k", fmt.Sprint(i), "NX", "GET")
			if err != nil || !reply.Null {
				t.Errorf("cluster %d is not its own: %+v, %v", i, reply, err)
			}
		})
	}
	wg.Wait()
}

// The logs of all containers are kept, those before a restart too.
func TestLogsAreCollected(t *testing.T) {
	needDocker(t)
	dir := filepath.Join(t.TempDir(), "logs")
	var told strings.Builder
	c, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Log: &told})
	must(t, err)
	c.LogTo(dir)
	must(t, c.Kill(t.Context(), "master"))
	must(t, c.Restart(t.Context(), "master"))
	must(t, c.Pause(t.Context(), "register"))
	must(t, c.Close())
	for file, starts := range map[string]int{"master.log": 2, "register.log": 1} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		must(t, err)
		if got := strings.Count(string(text), "Ready to accept connections"); got != starts {
			t.Errorf("%s tells of %d starts, want %d:\n%s", file, got, starts, text)
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	needDocker(t)
	before := goleak.IgnoreCurrent()
	c, err := New(t.Context(), cluster.Topology{Masters: 1, Replicas: 1}, Options{})
	must(t, err)
	nc, err := c.Dial(t.Context(), "A", "master") // left open
	must(t, err)
	must(t, c.Pause(t.Context(), "replica"))
	must(t, c.Close())
	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Error("a client's connection is open after Close")
	}
	nothingLeft(t, c.ID())
	goleak.VerifyNone(t, before)
}

// A New that is given up removes what it had begun, also what the engine makes late.
func TestCancelDuringNew(t *testing.T) {
	needDocker(t)
	mine, err := ownLabels("")
	must(t, err)
	for _, after := range []time.Duration{50, 150, 300, 600} {
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		c, err := New(ctx, cluster.Topology{Masters: 1, Replicas: 1}, Options{})
		cancel()
		if err == nil { // a quick machine
			must(t, c.Close())
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("New: %v, want %v", err, context.DeadlineExceeded)
		}
	}
	if left := things(t, ownerLabel+"="+mine[ownerLabel]); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
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
}
