package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/sim"
)

const limit = time.Minute

// TestRunOutsideOfTests pins an undocumented property of testing/synctest: a bubble
// runs in an ordinary binary, needs no flags and prints nothing of its own.
func TestRunOutsideOfTests(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "ordinary")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/ordinary").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil || string(out) != "1h0m0s\n" {
		t.Fatalf("got %q, %v; want an hour to pass", out, err)
	}
}

func TestRunReturnsErrors(t *testing.T) {
	want := errors.New("told so")
	for name, tc := range map[string]struct {
		f    func(*sim.World) error
		want string
	}{
		"error":  {func(*sim.World) error { return want }, "told so"},
		"panic":  {func(*sim.World) error { panic("boom") }, "boom"},
		"blocks": {func(*sim.World) error { select {} }, "waits for something that never comes"},
		"leftover": {func(*sim.World) error {
			go func() { select {} }()
			return nil
		}, "still there after the end:\nselect (no cases):\n  sim_test.TestRunReturnsErrors"},
	} {
		t.Run(name, func(t *testing.T) {
			err := sim.Run(1, limit, tc.f)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error that says %q", err, tc.want)
			}
		})
	}
}

func TestRunReportsRealStandstill(t *testing.T) {
	release := make(chan struct{}) // from outside: virtual time cannot move past it
	ended := make(chan struct{})
	err := sim.Run(1, 10*time.Millisecond, func(*sim.World) error {
		defer close(ended)
		<-release
		return nil
	})
	stuck, ok := errors.AsType[*sim.StuckError](err)
	if !ok || stuck.Socket || !strings.Contains(stuck.Stacks, "sim_test.TestRunReportsRealStandstill.func1") {
		t.Fatalf("got %v, want it stuck, and where", err)
	}
	close(release)
	<-ended
}

// TestSocketOfTheMachine checks that a run that waits for a real socket is told from one that waits for something else.
func TestSocketOfTheMachine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // it answers nobody
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	err = sim.Run(1, 100*time.Millisecond, func(*sim.World) error {
		defer close(ended)
		_, err := listener.Accept()
		return err
	})
	if stuck, ok := errors.AsType[*sim.StuckError](err); !ok || !stuck.Socket {
		t.Errorf("got %v, want it stuck at a socket", err)
	}
	_ = listener.Close() // whoever waits for it ends
	<-ended
}

// TestAbandonedRunStandsStill checks that what goes on after all in a run that was given up
// touches nothing more.
func TestAbandonedRunStandsStill(t *testing.T) {
	release, touched := make(chan struct{}), make(chan struct{})
	err := sim.Run(1, 10*time.Millisecond, func(w *sim.World) error {
		source := w.Source()
		<-release
		source.Now()
		close(touched)
		return nil
	})
	if _, ok := errors.AsType[*sim.StuckError](err); !ok {
		t.Fatalf("got %v, want it stuck", err)
	}
	close(release)
	select {
	case <-touched:
		t.Error("it went on")
	case <-time.After(50 * time.Millisecond): // it can only be missed, not be mistaken
	}
}

// TestCancelledRun cancels a run that ends by itself then, and one that does not see it.
func TestCancelledRun(t *testing.T) {
	why, own := errors.New("enough"), errors.New("its own")
	for _, deaf := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		over, want := make(chan struct{}), own
		if deaf {
			want = why
		} else {
			close(over)
		}
		cancel(why)
		err := sim.RunContext(ctx, 1, limit, func(*sim.World) error {
			<-over // from outside: virtual time cannot move past it
			return own
		})
		if !errors.Is(err, want) {
			t.Errorf("deaf %v: got %v, want %v", deaf, err, want)
		}
		if deaf {
			close(over)
		}
	}
}

// TestManyBubblesLeaveNothing runs bubbles side by side and one after another.
func TestManyBubblesLeaveNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // a deadlocked bubble cannot be taken away
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				if err := sim.Run(uint64(i*100+j), limit, func(w *sim.World) error {
					_, err := echoes(w)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// echoes lets five clients talk to one server and returns who heard what when.
func echoes(w *sim.World) (string, error) {
	var mu sync.Mutex
	var log strings.Builder
	var wg, servers sync.WaitGroup
	for c := range 5 {
		client, route := w.Source(), w.Route(fmt.Sprint("client", c), "server")
		near, far := route.Connect(1)
		servers.Go(func() {
			defer far.Close()
			_, _ = io.Copy(far, far)
		})
		wg.Go(func() {
			defer near.Close()
			for i := range 20 {
				fmt.Fprintf(near, "%02d", i)
				buf := make([]byte, 2)
				if _, err := io.ReadFull(near, buf); err != nil {
					t := err.Error()
					mu.Lock()
					log.WriteString(t)
					mu.Unlock()
				}
				mu.Lock()
				fmt.Fprintf(&log, "%d %s %v\n", c, buf, w.Now())
				mu.Unlock()
				_ = client.Sleep(context.Background(), time.Duration(i)*time.Millisecond)
			}
		})
	}
	wg.Wait()
	servers.Wait()
	if !w.Replayable() {
		return "", fmt.Errorf("%d ambiguous instants", w.Ambiguous())
	}
	return log.String(), nil
}

func TestSameSeedSameOrder(t *testing.T) {
	run := func(seed uint64) (log string) {
		if err := sim.Run(seed, limit, func(w *sim.World) (err error) {
			log, err = echoes(w)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return log
	}
	first := run(7)
	for range 20 {
		if again := run(7); again != first {
			t.Fatalf("seed 7 gave two runs:\n%s\nand\n%s", first, again)
		}
	}
	if run(8) == first {
		t.Fatal("seeds 7 and 8 gave the same run")
	}
}

// TestAmbiguityIsSeen lets two connections share a slot and checks that the world
// does not claim to be replayable.
func TestAmbiguityIsSeen(t *testing.T) {
	if err := sim.Run(1, limit, func(w *sim.World) error {
		for range sim.Slots + 1 {
			w.Source()
		}
		if w.Replayable() {
			return errors.New("slots were shared and the run is called replayable")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestSlotsAreUsedAgain opens more connections on one route than it has slots for.
func TestSlotsAreUsedAgain(t *testing.T) {
	for _, leave := range []bool{false, true} {
		if err := sim.Run(1, limit, func(w *sim.World) error {
			route := w.Route("a", "b")
			for n := range 100 {
				near, far := route.Connect(n + 1)
				if !leave {
					_ = near.Close()
					_ = far.Close()
				}
			}
			if w.Replayable() == leave {
				return fmt.Errorf("connections left open: %v; replayable: %v", leave, w.Replayable())
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestConn(t *testing.T) {
	virtual := func(w *sim.World) (net.Conn, net.Conn) { return w.Route("a", "b").Connect(1) }
	atOnce := func(*sim.World) (net.Conn, net.Conn) { return sim.Pipe() }
	for name, connect := range map[string]func(*sim.World) (net.Conn, net.Conn){"route": virtual, "pipe": atOnce} {
		in := func(t *testing.T, f func(a, b net.Conn) error) {
			t.Helper()
			if err := sim.Run(1, limit, func(w *sim.World) error {
				a, b := connect(w)
				defer b.Close()
				defer a.Close()
				return f(a, b)
			}); err != nil {
				t.Error(err)
			}
		}
		t.Run(name, func(t *testing.T) {
			in(t, func(a, b net.Conn) error { // bytes keep their order, writers never wait
				want := bytes.Repeat([]byte("0123456789"), 10_000)
				for rest := want; len(rest) > 0; rest = rest[1000:] {
					if _, err := a.Write(rest[:1000]); err != nil {
						return err
					}
				}
				_ = a.Close()
				got, err := io.ReadAll(b)
				if err != nil || !bytes.Equal(got, want) {
					return fmt.Errorf("read %d bytes, %v", len(got), err)
				}
				return nil
			})
			in(t, func(a, b net.Conn) error { // deadlines
				_ = b.SetReadDeadline(time.Now().Add(time.Second))
				if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					return fmt.Errorf("after the deadline: %v", err)
				}
				_ = b.SetReadDeadline(time.Time{})
				_, _ = a.Write([]byte("x"))
				_, err := b.Read(make([]byte, 1))
				return err
			})
			in(t, func(_, b net.Conn) error { // Close wakes a reader
				go func() {
					time.Sleep(time.Second)
					_ = b.Close()
				}()
				if _, err := b.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					return fmt.Errorf("after Close: %v", err)
				}
				return nil
			})
			in(t, func(a, b net.Conn) error { // half-close
				_ = a.(interface{ CloseWrite() error }).CloseWrite()
				if _, err := b.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
					return fmt.Errorf("after CloseWrite: %v", err)
				}
				if _, err := b.Write([]byte("x")); err != nil {
					return err
				}
				_, err := a.Read(make([]byte, 1))
				return err
			})
			in(t, func(a, b net.Conn) error { // writing to a closed peer
				_ = b.Close()
				if _, err := a.Write([]byte("x")); err == nil {
					return errors.New("write to a closed peer succeeded")
				}
				return nil
			})
		})
	}
}

func BenchmarkBubble(b *testing.B) {
	for b.Loop() {
		if err := sim.Run(1, limit, func(*sim.World) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPipeRoundTrip(b *testing.B) {
	near, far := sim.Pipe()
	go func() { _, _ = io.Copy(far, far) }()
	buf := make([]byte, 1)
	for b.Loop() {
		_, _ = near.Write(buf)
		_, _ = near.Read(buf)
	}
	_ = near.Close()
}
