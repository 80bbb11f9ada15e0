package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

func TestKillAndRestart(t *testing.T) {
	c := up(t, 2, 0)
	ctx := soon(t)
	conn := dial(t, c, "A", "n2")
	mustDo(t, conn, "SET", "k", "v")
	must(t, c.Kill(ctx, "n2"))
	if c.Alive("n2") || !c.Alive("n1") || !c.Alive("register") {
		t.Error("the wrong nodes are alive")
	}
	if _, err := conn.Do(ctx, "PING"); err == nil {
		t.Error("a connection survived the kill")
	}
	_, err := c.Dial(ctx, "A", "n2")
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial of a dead node: %v, want connection refused", err)
	}
	if err := c.Kill(ctx, "n2"); err == nil {
		t.Error("a dead node was killed")
	}
	if err := c.Pause(ctx, "n2"); err == nil {
		t.Error("a dead node was paused")
	}
	if _, err := c.Inspect(ctx, "n2", 0, "k"); err == nil {
		t.Error("a dead node was inspected")
	}
	must(t, c.Restart(ctx, "n2"))
	if value(t, c, "n2", "k").Exists {
		t.Error("a key survived the restart")
	}
	mustDo(t, dial(t, c, "A", "n2"), "PING")
	if err := c.Restart(ctx, "n2"); err == nil {
		t.Error("a running node was started again")
	}
}

// A server that ends by itself is noticed, and its clients too.
func TestCrashIsNoticed(t *testing.T) {
	c := up(t, 1, 0)
	r := c.Machines["master"].current()
	conn := dial(t, c, "A", "master")
	if _, err := conn.Do(soon(t), "SHUTDOWN", "NOSAVE", "NOW"); err == nil {
		t.Error("SHUTDOWN was answered")
	}
	select {
	case <-r.done:
	case <-soon(t).Done():
		t.Fatal("the end of the container is not noticed")
	}
	if c.Alive("master") {
		t.Error("a dead node is alive")
	}
	must(t, c.Restart(soon(t), "master"))
	mustDo(t, dial(t, c, "A", "master"), "PING")
}

func TestPauseAndResume(t *testing.T) {
	c := up(t, 1, 0)
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "PING")
	must(t, c.Pause(soon(t), "master"))
	must(t, c.Pause(soon(t), "master")) // once more changes nothing
	if !c.Alive("master") {
		t.Error("a paused node is dead")
	}
	pong := make(chan error, 1)
	go func() {
		_, err := conn.Do(context.Background(), "PING")
		pong <- err
	}()
	// A stopped process answers nobody, however long one waits.
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Inspect(short, "master", 0, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Inspect of a paused node: %v", err)
	}
	select {
	case err := <-pong:
		t.Fatalf("a paused node answered: %v", err)
	default:
	}
	must(t, c.Resume(soon(t), "master"))
	must(t, <-pong)
	must(t, c.Resume(soon(t), "master")) // once more changes nothing
}

func TestKillPaused(t *testing.T) {
	c := up(t, 1, 0)
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "SET", "k", "v")
	must(t, c.Pause(soon(t), "master"))
	must(t, c.Kill(soon(t), "master"))
	must(t, c.Restart(soon(t), "master"))
	if value(t, c, "master", "k").Exists {
		t.Error("a key survived the restart")
	}
}

func offsets(t *testing.T, c *Cluster, replica string) (have, sent int64) {
	t.Helper()
	have, sent, err := c.Offsets(soon(t), replica)
	must(t, err)
	return have, sent
}

// The write that the master acknowledged is lost with it.
func TestLossyFailover(t *testing.T) {
	for i := range 5 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c := up(t, 1, 1)
			ctx := soon(t)
			client := dial(t, c, "A", "master")
			mustDo(t, client, "SET", "early", "v")
			must(t, c.Sync(ctx, "master"))

			must(t, c.CutReplication(ctx, "replica"))
			mustDo(t, client, "SET", "late", "v", "NX")
			have, sent := offsets(t, c, "replica")
			if have >= sent {
				t.Errorf("replica has %d of %d, want a lag", have, sent)
			}
			must(t, c.Kill(ctx, "master"))
			must(t, c.Promote(ctx, "replica"))
			if h, s := offsets(t, c, "replica"); h != have || s < sent {
				t.Errorf("after the promotion: %d of %d, before %d of %d", h, s, have, sent)
			}
			if got := c.Primary(0); got != "replica" {
				t.Errorf("Primary is %s, want replica", got)
			}
			if !value(t, c, "replica", "early").Exists {
				t.Error("the write that was in step is lost")
			}
			if value(t, c, "replica", "late").Exists {
				t.Error("the write behind the cut has arrived")
			}
			if got := mustDo(t, dial(t, c, "B", "replica"), "SET", "late", "w", "NX"); got != "OK" {
				t.Errorf("B's SET NX answers %q, want OK", got)
			}
		})
	}
}

// Without a cut the same failover keeps the write: it is the cut that loses it.
func TestFailoverInStepKeepsTheWrite(t *testing.T) {
	c := up(t, 1, 1)
	ctx := soon(t)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v", "NX")
	must(t, c.Sync(ctx, "master"))
	must(t, c.Kill(ctx, "master"))
	must(t, c.Promote(ctx, "replica"))
	if !value(t, c, "replica", "k").Exists {
		t.Error("a write that was in step is lost")
	}
}

func TestHealBringsTheReplicaBack(t *testing.T) {
	c := up(t, 1, 1)
	ctx := soon(t)
	must(t, c.CutReplication(ctx, "replica"))
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := c.Sync(short, "master"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync over a cut link: %v", err)
	}
	if value(t, c, "replica", "k").Exists {
		t.Error("a write crossed the cut")
	}
	must(t, c.HealReplication(ctx, "replica"))
	must(t, c.Sync(ctx, "master"))
	if !value(t, c, "replica", "k").Exists {
		t.Error("the write did not arrive after the heal")
	}
}

func TestRestartedReplicaFollowsAgain(t *testing.T) {
	c := up(t, 1, 1)
	ctx := soon(t)
	mustDo(t, dial(t, c, "A", "master"), "SET", "k", "v")
	must(t, c.Kill(ctx, "replica"))
	if err := c.Sync(ctx, "master"); err == nil {
		t.Error("Sync with a dead replica succeeded")
	}
	must(t, c.Restart(ctx, "replica"))
	must(t, c.Sync(ctx, "master"))
	if !value(t, c, "replica", "k").Exists {
		t.Error("the restarted replica is empty")
	}
}
