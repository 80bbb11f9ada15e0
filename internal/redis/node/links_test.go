package node

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// echoes are links to nodes that send back what they get.
func echoes(ctx context.Context, t *testing.T) *Links {
	t.Helper()
	l := NewLinks(ctx, func(_ context.Context, node string) (net.Conn, error) {
		if node == "dead" {
			return nil, Refused(node)
		}
		near, far := sim.Pipe()
		go func() {
			_, _ = io.Copy(far, far) // until the link ends it
			_ = far.Close()
		}()
		return near, nil
	})
	t.Cleanup(l.Close)
	return l
}

// echoed sends a command over conn, and checks that it comes back.
func echoed(t *testing.T, conn net.Conn) {
	t.Helper()
	const ping = "*1\r\n$4\r\nPING\r\n"
	_, err := conn.Write([]byte(ping))
	must(t, err)
	got := make([]byte, len(ping))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != ping {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestLinks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := echoes(ctx, t)
	conn, err := l.Dial(ctx, "A", "n1")
	must(t, err)
	echoed(t, conn)
	cancel() // neither ends the links nor what was dialed
	echoed(t, conn)
	if _, err := l.Dial(ctx, "A", "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial with a context that has ended: %v", err)
	}

	if link := l.Link("A", "n1"); link != l.Link("A", "n1") || link == l.Link("B", "n1") || link == l.Link("A", "n2") {
		t.Error("every client has one link to every node")
	}
	l.Link("A", "n1").Cut()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection survived the cut")
	}
	if _, err := l.Dial(t.Context(), "A", "n1"); err == nil {
		t.Error("a cut link was dialed")
	}
	other, err := l.Dial(t.Context(), "B", "n1")
	must(t, err)
	echoed(t, other)
	l.Link("A", "n1").Heal()
	conn, err = l.Dial(t.Context(), "A", "n1")
	must(t, err)
	echoed(t, conn)

	conn, err = l.Dial(t.Context(), "A", "dead")
	must(t, err)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a dead node sent something")
	}
}

func TestLinksClose(t *testing.T) {
	l := echoes(t.Context(), t)
	conn, err := l.Dial(t.Context(), "A", "n1")
	must(t, err)
	echoed(t, conn)
	bound, free := l.Bound(t.Context())
	defer free()
	ended := false
	if !l.Go(func(ctx context.Context) { <-ctx.Done(); ended = true }) {
		t.Fatal("Go did nothing")
	}
	l.Close()
	if !ended {
		t.Error("Close did not wait for what Go started")
	}
	if <-bound.Done(); !errors.Is(context.Cause(bound), ErrClosed) {
		t.Errorf("a bound context: %v", context.Cause(bound))
	}
	<-l.Ended()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is open")
	}
	l.Close() // once more changes nothing

	if _, err := l.Dial(t.Context(), "A", "n1"); err == nil {
		t.Error("Dial after Close succeeded")
	}
	if _, err := l.Dial(t.Context(), "B", "n2"); err == nil {
		t.Error("Dial of a new link after Close succeeded")
	}
	if l.Go(func(context.Context) { t.Error("it runs") }) {
		t.Error("Go after Close")
	}
	late, free := l.Bound(t.Context())
	defer free()
	if !errors.Is(context.Cause(late), ErrClosed) {
		t.Errorf("a context bound after Close: %v", context.Cause(late))
	}
	near, far := sim.Pipe()
	if l.Serve(l.Link("A", "n1"), far) {
		t.Error("Serve after Close")
	}
	if _, err := near.Read(make([]byte, 1)); err == nil {
		t.Error("what came after Close is open")
	}
}

// A bound context ends with the one that it comes from, and is free of it once it is
// given back.
func TestBound(t *testing.T) {
	l := echoes(t.Context(), t)
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	bound, free := l.Bound(ctx)
	if bound.Err() != nil {
		t.Error("it has ended already")
	}
	cancel(why)
	if <-bound.Done(); !errors.Is(context.Cause(bound), why) {
		t.Errorf("ended by %v, want %v", context.Cause(bound), why)
	}
	free()
}
