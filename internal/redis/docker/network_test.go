package docker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// inside asks the server of a node from inside its container, past every network.
func inside(t *testing.T, c *Cluster, name string, args ...string) string {
	t.Helper()
	return shell(t, c, name, append([]string{"redis-cli"}, args...)...)
}

// shell runs a command in the container of a node and returns what it prints.
func shell(t *testing.T, c *Cluster, name string, command ...string) string {
	t.Helper()
	out, err := c.exec(soon(t), c.Machines[name], command...)
	must(t, err)
	return strings.TrimSpace(out)
}

// unanswered checks that a node answers nobody outside.
func unanswered(t *testing.T, c *Cluster, name string) {
	t.Helper()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Do(short, name, "PING"); err == nil {
		t.Errorf("%s answers", name)
	}
}

// send sends a command on a connection that is up, and does not wait for the answer.
func send(conn *wire.Conn, args ...string) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := conn.Do(context.Background(), args...)
		answer <- err
	}()
	return answer
}

// notYet checks that a command has not been answered.
func notYet(t *testing.T, answer <-chan error) {
	t.Helper()
	select {
	case err := <-answer:
		t.Fatalf("it was answered: %v", err)
	default:
	}
}

// until waits for something to be seen.
func until(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for ctx := soon(t); !seen(); {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestNetwork(t *testing.T) {
	c := up(t, 1, 1)
	t.Run("disconnect", func(t *testing.T) { disconnect(t, c) })
	t.Run("disconnect a dead one", func(t *testing.T) { disconnectDead(t, c) })
	t.Run("deaf", func(t *testing.T) { deaf(t, c) })
	t.Run("mute", func(t *testing.T) { mute(t, c) })
	t.Run("stream", func(t *testing.T) { dropStream(t, c) })
	t.Run("acknowledgements", func(t *testing.T) { dropAcknowledgements(t, c) })
	t.Run("restart", func(t *testing.T) { dropEndsWithTheContainer(t, c) })
	t.Run("bad paths", func(t *testing.T) { badPaths(t, c) })
	t.Run("no iptables", func(t *testing.T) { noIptables(t, c) }) // the last: it breaks the container
}

func disconnect(t *testing.T, c *Cluster) {
	ctx := soon(t)
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "PING")
	must(t, c.Disconnect(ctx, "master"))
	must(t, c.Disconnect(ctx, "master")) // once more changes nothing
	unanswered(t, c, "master")
	answer := send(conn, "SET", "k", "v")
	if !c.Alive("master") || inside(t, c, "master", "PING") != "PONG" {
		t.Error("it is dead")
	}
	if err := shell(t, c, "replica", "sh", "-c", "timeout 1 redis-cli -h master PING || echo none"); err != "none" {
		t.Errorf("its replica reaches it: %s", err)
	}
	// It may have more: the master's last ping, sent between the look at it and its unplugging.
	if have, sent := offsets(t, c, "replica"); have < sent {
		t.Errorf("nothing was written, and the replica has %d of %d", have, sent)
	}
	if got := inside(t, c, "master", "EXISTS", "k"); got != "0" {
		t.Error("a command got through")
	}
	notYet(t, answer)
	must(t, c.Reconnect(ctx, "master"))
	must(t, c.Reconnect(ctx, "master")) // once more changes nothing
	mustDo(t, dial(t, c, "B", "master"), "PING")
	must(t, <-answer) // TCP sends it again
	if got, want := shell(t, c, "replica", "getent", "hosts", "master"), c.Machines["master"].ip.String(); !strings.HasPrefix(got, want+" ") {
		t.Errorf("its name leads to %q, want %s", got, want)
	}
	must(t, c.Sync(ctx, "master"))
}

// A node that dies off the network can be started again once it is back on it.
func disconnectDead(t *testing.T, c *Cluster) {
	ctx := soon(t)
	must(t, c.Disconnect(ctx, "replica"))
	must(t, c.Kill(ctx, "replica"))
	if err := c.Disconnect(ctx, "replica"); err == nil {
		t.Error("a dead node was disconnected")
	}
	if err := c.Restart(ctx, "replica"); err == nil || !strings.Contains(err.Error(), "reconnect it first") {
		t.Errorf("Restart off the network: %v", err)
	}
	must(t, c.Reconnect(ctx, "replica"))
	must(t, c.Restart(ctx, "replica"))
	must(t, c.Sync(ctx, "master"))
}

func deaf(t *testing.T, c *Cluster) {
	ctx := soon(t)
	path := cluster.Path{From: cluster.Anyone, To: "master"}
	before := shell(t, c, "master", "iptables", "-S")
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "DEL", "k")
	must(t, c.CanDrop(ctx))
	must(t, c.Drop(ctx, path))
	must(t, c.Drop(ctx, path)) // once more changes nothing
	answer := send(conn, "SET", "k", "v")
	unanswered(t, c, "master")
	lost(t, c, path)
	if got := inside(t, c, "master", "EXISTS", "k"); got != "0" {
		t.Error("it heard a command")
	}
	notYet(t, answer)
	pass(t, c, path)
	must(t, <-answer)
	mustDo(t, dial(t, c, "B", "master"), "PING")
	if after := shell(t, c, "master", "iptables", "-S"); after != before {
		t.Errorf("its rules were\n%s\nand are now\n%s", before, after)
	}
}

func mute(t *testing.T, c *Cluster) {
	ctx := soon(t)
	path := cluster.Path{From: "master", To: cluster.Anyone}
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "DEL", "k")
	must(t, c.Drop(ctx, path))
	answer := send(conn, "SET", "k", "v")
	until(t, "the command to be executed", func() bool { return inside(t, c, "master", "EXISTS", "k") == "1" })
	unanswered(t, c, "master")
	lost(t, c, path)
	notYet(t, answer)
	pass(t, c, path)
	must(t, <-answer)
}

func dropStream(t *testing.T, c *Cluster) {
	ctx := soon(t)
	must(t, c.Sync(ctx, "master"))
	path := cluster.Path{From: "master", To: "replica"}
	must(t, c.Drop(ctx, path))
	mustDo(t, dial(t, c, "A", "master"), "SET", "stream", "v")
	lost(t, c, path)
	if got := inside(t, c, "replica", "EXISTS", "stream"); got != "0" {
		t.Error("the write came through")
	}
	mustDo(t, dial(t, c, "A", "replica"), "PING") // it is not cut off from its clients
	if have, sent := offsets(t, c, "replica"); have >= sent {
		t.Errorf("the replica has %d of %d, want less", have, sent)
	}
	pass(t, c, path)
	must(t, c.Sync(ctx, "master"))
	if got := inside(t, c, "replica", "GET", "stream"); got != "v" {
		t.Errorf("after healing the replica has %q", got)
	}
}

// A write that the replica has, and of which the master does not know that it has.
func dropAcknowledgements(t *testing.T, c *Cluster) {
	ctx := soon(t)
	path := cluster.Path{From: "replica", To: "master"}
	must(t, c.Drop(ctx, path))
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "SET", "acknowledged", "v")
	until(t, "the write to reach the replica", func() bool { return inside(t, c, "replica", "EXISTS", "acknowledged") == "1" })
	lost(t, c, path)
	reply, err := conn.Do(ctx, "WAIT", "1", "200")
	if acks, intErr := reply.Int(); err != nil || intErr != nil || acks != 0 {
		t.Errorf("WAIT 1: %v, %v, want 0", reply, err)
	}
	pass(t, c, path)
	must(t, c.Sync(ctx, "master"))
}

func dropEndsWithTheContainer(t *testing.T, c *Cluster) {
	ctx := soon(t)
	path := cluster.Path{From: cluster.Anyone, To: "replica"}
	must(t, c.Drop(ctx, path))
	must(t, c.Kill(ctx, "replica"))
	if err := c.Drop(ctx, path); err == nil {
		t.Error("a dead node drops packets")
	}
	must(t, c.Restart(ctx, "replica"))
	if n, err := c.Pass(ctx, path); n != 0 || err != nil {
		t.Errorf("Pass: %d, %v", n, err)
	}
	must(t, c.Sync(ctx, "master"))
}

func badPaths(t *testing.T, c *Cluster) {
	ctx := soon(t)
	for _, path := range []cluster.Path{
		{}, {From: "master"}, {From: "master", To: "master"}, {From: "n7", To: "master"}, {From: "master", To: "n7"},
		{From: cluster.Anyone, To: "n7"}, {From: "n7", To: cluster.Anyone}, {From: cluster.Anyone, To: cluster.Anyone},
	} {
		_, droppedErr := c.Dropped(ctx, path)
		_, passErr := c.Pass(ctx, path)
		if c.Drop(ctx, path) == nil || droppedErr == nil || passErr == nil {
			t.Errorf("%+v is a path", path)
		}
	}
	if n, err := c.Pass(ctx, cluster.Path{From: "register", To: "master"}); n != 0 || err != nil {
		t.Errorf("Pass without Drop: %d, %v", n, err)
	}
}

// Without iptables nothing hangs: the error says what to do.
func noIptables(t *testing.T, c *Cluster) {
	shell(t, c, "master", "rm", "/usr/sbin/iptables-restore", "/usr/sbin/iptables-legacy-restore")
	c.filter.Store(nil)
	err := c.CanDrop(soon(t))
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(missing.Found, "iptables-legacy-restore: not found") || !strings.Contains(missing.Run, "modprobe") {
		t.Errorf("CanDrop: %v", err)
	}
	if err := c.Drop(soon(t), cluster.Path{From: cluster.Anyone, To: "master"}); !errors.As(err, &missing) {
		t.Errorf("Drop: %v", err)
	}
}

// lost waits until packets were dropped.
func lost(t *testing.T, c *Cluster, path cluster.Path) {
	t.Helper()
	until(t, "packets to be dropped", func() bool {
		n, err := c.Dropped(soon(t), path)
		must(t, err)
		return n > 0
	})
}

// pass heals a path on which packets were dropped.
func pass(t *testing.T, c *Cluster, path cluster.Path) {
	t.Helper()
	n, err := c.Pass(soon(t), path)
	must(t, err)
	if n == 0 {
		t.Error("Pass tells of no packet that was dropped")
	}
}
