package process

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestKillAndRestart(t *testing.T) {
	c := up(t, 5, 0)
	ctx := t.Context()
	conn := dial(t, c, "A", "n3")
	mustDo(t, conn, "SET", "k", "v")

	must(t, c.Kill(ctx, "n3"))
	if c.Alive("n3") || !c.Alive("n2") || !c.Alive("register") {
		t.Error("the wrong nodes are alive")
	}
	if _, err := conn.Do(ctx, "PING"); err == nil {
		t.Error("a connection survived the kill")
	}
	_, err := c.Dial(ctx, "A", "n3")
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial of a dead node: %v, want connection refused", err)
	}
	if err := c.Kill(ctx, "n3"); err == nil {
		t.Error("a dead node was killed")
	}
	if err := c.Pause(ctx, "n3"); err == nil {
		t.Error("a dead node was paused")
	}
	if _, err := c.Inspect(ctx, "n3", 0, "k"); err == nil {
		t.Error("a dead node was inspected")
	}

	port := c.Machines["n3"].port()
	must(t, c.Restart(ctx, "n3"))
	if got := c.Machines["n3"].port(); got != port {
		t.Logf("port %d was taken in between, now %d", port, got)
	}
	if value(t, c, "n3", "k").Exists {
		t.Error("a key survived the restart")
	}
	mustDo(t, dial(t, c, "A", "n3"), "PING")
	if err := c.Restart(ctx, "n3"); err == nil {
		t.Error("a running node was started again")
	}
}

// A dead node's port may be somebody else's by the time it comes back. This one takes
// connections and never answers.
func TestRestartOnTakenPort(t *testing.T) {
	c := up(t, 1, 0)
	must(t, c.Kill(t.Context(), "master"))
	port := c.Machines["master"].port()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(loopback), Port: port})
	if !errors.Is(err, syscall.EADDRINUSE) { // else somebody was quicker, and has it for us
		must(t, err)
		defer func() { must(t, l.Close()) }()
	}
	must(t, c.Restart(t.Context(), "master"))
	if c.Machines["master"].port() == port {
		t.Error("two listeners on one port")
	}
	mustDo(t, dial(t, c, "A", "master"), "PING")
}

func TestCrashIsNoticed(t *testing.T) {
	c := up(t, 1, 0)
	r := c.Machines["master"].current()
	p, err := os.FindProcess(r.process.Pid)
	must(t, err)
	must(t, p.Kill())
	<-r.done
	if c.Alive("master") {
		t.Error("a dead node is alive")
	}
	must(t, c.Restart(t.Context(), "master"))
}

func TestPauseAndResume(t *testing.T) {
	c := up(t, 1, 0)
	conn := dial(t, c, "A", "master")
	mustDo(t, conn, "PING")
	must(t, c.Pause(t.Context(), "master"))
	must(t, c.Pause(t.Context(), "master")) // once more changes nothing
	if !c.Alive("master") {
		t.Error("a paused node is dead")
	}

	pong := make(chan error, 1)
	go func() {
		_, err := conn.Do(context.Background(), "PING")
		pong <- err
	}()
	// A stopped process answers nobody, however long one waits.
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Inspect(short, "master", 0, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Inspect of a paused node: %v", err)
	}
	select {
	case err := <-pong:
		t.Fatalf("a paused node answered: %v", err)
	default:
	}

	must(t, c.Resume(t.Context(), "master"))
	must(t, <-pong)
}

func TestKillPaused(t *testing.T) {
	c := up(t, 1, 0)
	must(t, c.Pause(t.Context(), "master"))
	must(t, c.Kill(t.Context(), "master"))
	must(t, c.Restart(t.Context(), "master"))
	mustDo(t, dial(t, c, "A", "master"), "PING")
}
