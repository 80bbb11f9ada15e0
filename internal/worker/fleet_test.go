package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// employ returns a fleet of workers of a behaviour, and its first worker.
func employ(t *testing.T, how string, set Setting) (*Fleet, *Client, error) {
	t.Helper()
	me, err := os.Executable()
	must(t, err)
	t.Setenv(behaviourEnv, how)
	f, err := NewFleet(t.Context(), []string{me}, nil)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	c, err := f.Start(t.Context(), "A", func(int) Setting { return set })
	return f, c, err
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestClient(t *testing.T) {
	set, servers := setting(t, "fenced", "fence", 1)
	f, c, err := employ(t, "good", set)
	must(t, err)
	ctx := within(t, time.Minute)
	before := time.Now()
	got, err := c.Acquire(ctx, "k", time.Minute)
	must(t, err)
	l := got.(*Lease)
	if end := l.Deadline(); l.Token() != 1 || end.Before(before.Add(59*time.Second)) || end.After(time.Now().Add(time.Minute)) {
		t.Errorf("token %d, deadline %v after the call", l.Token(), end.Sub(before))
	}
	if _, err := c.Acquire(ctx, "k", time.Minute); !errors.Is(err, locks.ErrTaken) || err.Error() != "lock is taken" {
		t.Errorf("a lock that is taken: %v", err)
	}
	if _, err := c.Acquire(ctx, "", time.Minute); locks.Classify(err) != locks.Refused || errors.Is(err, locks.ErrTaken) {
		t.Errorf("a key without a name: %v", err)
	}
	state, err := l.Write(ctx, 42)
	must(t, err)
	if state.Version != 0 {
		t.Errorf("the first write replaced version %d", state.Version)
	}
	state, err = l.Read(ctx)
	must(t, err)
	if state.Value != 42 || state.Version != 1 {
		t.Errorf("read %+v", state)
	}
	must(t, l.Extend(ctx, time.Hour))
	if servers[0].TTL("k") < time.Minute {
		t.Error("not extended")
	}
	must(t, l.Release(ctx))
	must(t, f.Err())
}

// TestRefused checks that a refusal can be released if the worker says so.
func TestRefused(t *testing.T) {
	for lock, can := range map[string]bool{"setnx-px-del": true, "setnx": false} {
		set, servers := setting(t, lock, "none", 1)
		f, c, err := employ(t, "good", set)
		must(t, err)
		ctx := within(t, time.Minute)
		_, err = c.Acquire(ctx, "k", time.Minute)
		must(t, err)
		_, err = c.Acquire(ctx, "k", time.Minute)
		refused, ok := errors.AsType[*locks.RefusedError](err)
		if !errors.Is(err, locks.ErrTaken) || err.Error() != "lock is taken" || ok != can || c.Said().Promises.ReleasesRefused != can {
			t.Errorf("%s: a lock that is taken: %#v", lock, err)
		}
		if ok {
			must(t, refused.Lease.Release(ctx))
		}
		if servers[0].Exists("k") == can {
			t.Errorf("%s: whether the key is there is %v", lock, !can)
		}
		must(t, f.Err())
	}
}

// TestDefault checks that a worker is asked for a lease without a TTL if it says that it can be, and else says so.
func TestDefault(t *testing.T) {
	for lock, can := range map[string]bool{"setnx-px-lua-default": true, "setnx-px-lua": false} {
		set, servers := setting(t, lock, "none", 1)
		f, c, err := employ(t, "good", set)
		must(t, err)
		if said := c.Said().Promises; said.WithoutTTL != can || can && said.DefaultTTL != 30*time.Second {
			t.Errorf("%s: it promises %+v", lock, said)
		}
		ctx := within(t, time.Minute)
		if _, err := c.Acquire(ctx, "k", 0); locks.Classify(err) != locks.Refused || errors.Is(err, locks.ErrTaken) {
			t.Errorf("%s: an acquire for 0: %v", lock, err)
		}
		_, err = c.AcquireDefault(ctx, "k")
		var lacks *LacksError
		if can && err != nil || !can && !errors.As(f.Err(), &lacks) {
			t.Errorf("%s: without a TTL: %v, %v", lock, err, f.Err())
		}
		if left := servers[0].TTL("k"); can && (left < 29*time.Second || left > 30*time.Second) {
			t.Errorf("%s: the key lives for %v", lock, left)
		}
	}
}

// TestReaders checks that readers share a key, and that a writer does not.
func TestReaders(t *testing.T) {
	set, _ := setting(t, "rw-hash", "none", 1)
	f, a, err := employ(t, "good", set)
	must(t, err)
	other := set
	other.Identity, other.Seed = "b-uuid", "18" // its tokens are of its seed
	b, err := f.Start(t.Context(), "B", func(int) Setting { return other })
	must(t, err)
	ctx := within(t, time.Minute)
	first, err := a.AcquireRead(ctx, "k", time.Minute)
	must(t, err)
	second, err := b.AcquireRead(ctx, "k", time.Minute)
	must(t, err)
	if _, err := a.AcquireWrite(ctx, "k", time.Minute); !errors.Is(err, locks.ErrTaken) {
		t.Errorf("a writer among readers: %v", err)
	}
	must(t, first.Release(ctx))
	must(t, second.Release(ctx))
	_, err = a.AcquireWrite(ctx, "k", time.Minute)
	must(t, err)
	if _, err := b.AcquireRead(ctx, "k", time.Minute); !errors.Is(err, locks.ErrTaken) {
		t.Errorf("a reader beside a writer: %v", err)
	}
	must(t, f.Err())
}

// TestReenter checks that leases of one key are told apart, one inside the other.
func TestReenter(t *testing.T) {
	set, _ := setting(t, "reentrant-hash", "none", 1)
	f, c, err := employ(t, "good", set)
	must(t, err)
	ctx := within(t, time.Minute)
	counts := func(want int64) {
		t.Helper()
		got, err := c.Count(ctx, "k")
		must(t, err)
		if got != want {
			t.Errorf("it holds the key %d times, want %d", got, want)
		}
	}
	counts(0)
	outer, err := c.Acquire(ctx, "k", time.Minute)
	must(t, err)
	inner, err := c.Acquire(ctx, "k", time.Minute)
	must(t, err)
	counts(2)
	must(t, inner.Release(ctx))
	counts(1)
	_, err = outer.(*Lease).Read(ctx) // it is still there
	must(t, err)
	must(t, outer.Release(ctx))
	counts(0)
	must(t, f.Err())
}

// TestLacks asks workers for what they have not said that they can. A worker that does not
// know of readers must not be asked: it would take a lease of another kind.
func TestLacks(t *testing.T) {
	for want, ask := range map[string]func(context.Context, *Client) error{
		`cannot do what acquire asks for: its hello says that it can [], want "share" among it`: func(ctx context.Context, c *Client) error {
			_, err := c.AcquireRead(ctx, "k", time.Minute)
			return err
		},
		`cannot do what count asks for: its hello says that it can [], want "reenter" among it`: func(ctx context.Context, c *Client) error {
			_, err := c.Count(ctx, "k")
			return err
		},
		`cannot do what release asks for: its hello says that it can [], want "release-twice" among it`: func(ctx context.Context, c *Client) error {
			return (&Lease{process: c.current(), released: true}).Release(ctx)
		},
	} {
		f, c, err := employ(t, "lost", Setting{})
		must(t, err)
		err = ask(within(t, time.Minute), c)
		var broken *BrokenError
		if !errors.As(err, &broken) || locks.Classify(err) != locks.Indefinite || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a BrokenError: %s", err, want)
		}
		if f.Err() == nil {
			t.Error("the run would go on")
		}
	}
}

func TestRequire(t *testing.T) {
	set, _ := setting(t, "rw-hash", "none", 1)
	for how, want := range map[string]string{
		"good": "",
		"lost": `cannot run workload readwrite: its hello says that it can [], want "share" among it`,
	} {
		f, _, err := employ(t, how, set)
		must(t, err) // nobody asked
		f.Require("workload readwrite", CanShare)
		_, err = f.Start(t.Context(), "B", func(int) Setting { return set })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
}

// TestBroken checks that of a worker that breaks the protocol everything is told that helps.
func TestBroken(t *testing.T) {
	effort.Real(t)
	for how, want := range map[string][]string{
		"rubbish":  {`wrote the line "hello, world": it is no JSON object`},
		"typeless": {`wrote the line "{\"id\":3,\"type\":\"fine\"}": its type is "fine", want "ok", "fail", "unknown" or "error"`},
		"dies":     {`ended by itself`, `exit status 3`, "Traceback: no luck"},
		"leaves":   {`ended by itself`},
		"unable":   {`cannot do what acquire asks for: what is a lock?`},
		"long":     {`wrote a line that is longer than 1048576 bytes`},
		"endless":  {`its remaining is 1e+18 ms, want at most 9.2`, `a lease without an end has none`},
		"mute":     {`closed its standard output in the middle of the run`},
	} {
		t.Run(how, func(t *testing.T) {
			f, c, err := employ(t, how, Setting{})
			must(t, err)
			_, err = c.Acquire(within(t, time.Minute), "k", time.Minute)
			var broken *BrokenError
			if !errors.As(err, &broken) || locks.Classify(err) != locks.Indefinite {
				t.Fatalf("acquire: %v, want a BrokenError", err)
			}
			for _, part := range append(want, "worker A (process ", "docs/worker-protocol.md") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v: does not say %s", err, part)
				}
			}
			if f.Err() == nil {
				t.Error("the run would go on")
			}
			if _, again := c.Acquire(within(t, time.Minute), "k", time.Minute); !errors.As(again, &broken) {
				t.Errorf("the next call: %v", again)
			}
		})
	}
}

// TestAnsweredTwice is about a line that nobody waits for.
func TestAnsweredTwice(t *testing.T) {
	f, c, err := employ(t, "twice", Setting{})
	must(t, err)
	_, _ = c.Acquire(within(t, time.Minute), "k", time.Minute) // the first answer may still count
	<-c.current().done
	if f.Err() == nil || !strings.Contains(f.Err().Error(), "request 3 was not made, or is answered already") {
		t.Errorf("the run goes on with %v", f.Err())
	}
}

func TestBadHello(t *testing.T) {
	for how, want := range map[string]string{
		"old":     `answers hello with "ok" and protocol 0, want "ok" and 1`,
		"foreign": `says that it is process 1, which does not belong to the process group`,
	} {
		_, c, err := employ(t, how, Setting{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", how, err, want)
		}
		if how == "foreign" { // what heals a fault may come to it all the same
			_, suspended := c.Suspend(t.Context())
			_, resumed := c.Resume(t.Context())
			if !errors.Is(suspended, errStranger) || !errors.Is(resumed, errStranger) {
				t.Errorf("suspended: %v, resumed: %v, want errors", suspended, resumed)
			}
			if seen, err := c.Kill(t.Context()); err != nil || !strings.HasSuffix(seen, "is gone") {
				t.Errorf("killed: %s, %v", seen, err)
			}
		}
	}
}

func TestCannotConfigure(t *testing.T) {
	_, _, err := employ(t, "good", Setting{Lock: "setnx-px-luo"})
	if err == nil || !strings.Contains(err.Error(), "setnx-px-lua") {
		t.Errorf("an unknown lock: %v", err)
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := NewFleet(t.Context(), nil, nil); err == nil {
		t.Error("a fleet without a command")
	}
	f, err := NewFleet(t.Context(), []string{"/nowhere/worker"}, nil)
	must(t, err)
	if _, err := f.Start(t.Context(), "A", nil); err == nil || !strings.Contains(err.Error(), "/nowhere/worker") {
		t.Errorf("started: %v", err)
	}
	must(t, f.Close())
}

func TestHangs(t *testing.T) {
	effort.Real(t)
	f, c, err := employ(t, "hangs", Setting{})
	must(t, err)
	c.current().grace = 20 * time.Millisecond
	// A deadline that has passed before the call begins would end it in another way.
	_, err = c.Acquire(within(t, time.Second), "k", time.Minute)
	if _, silent := errors.AsType[*SilentError](err); !silent || f.Err() != nil {
		t.Errorf("acquire: %v, run: %v", err, f.Err())
	}
	<-c.current().done // it was killed
}

// TestPausedDoesNotHang checks that standing still is not held against a worker.
func TestPausedDoesNotHang(t *testing.T) {
	effort.Real(t)
	set, servers := setting(t, "setnx-px-lua", "none", 1)
	f, c, err := employ(t, "good", set)
	must(t, err)
	c.current().grace = 3 * time.Second // it also has to answer in, on a busy machine
	seen, err := c.Suspend(t.Context())
	must(t, err)
	if want := fmt.Sprintf("process %d is in state T", c.current().subject.PID); seen != want {
		t.Errorf("seen %q, want %q", seen, want)
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Acquire(context.Background(), "k", time.Minute)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("a process that stands still acquired: %v", err)
	case <-time.After(4 * time.Second): // longer than the grace
	}
	if servers[0].Exists("k") {
		t.Error("a process that stands still has set the key")
	}
	seen, err = c.Resume(t.Context())
	must(t, err)
	if strings.HasSuffix(seen, "state T") || !strings.HasPrefix(seen, "process ") {
		t.Errorf("resumed: %s", seen)
	}
	must(t, <-done)
	must(t, f.Err())
}

func TestKillAndRestart(t *testing.T) {
	set, servers := setting(t, "setnx-px-lua", "none", 1)
	f, c, err := employ(t, "good", set)
	must(t, err)
	ctx := within(t, time.Minute)
	lease, err := c.Acquire(ctx, "k", time.Minute)
	must(t, err)
	old := c.current().subject
	_, err = c.Suspend(ctx) // so that the call cannot end before
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- lease.Release(ctx) }()
	seen, err := c.Kill(ctx)
	must(t, err)
	if want := fmt.Sprintf("process %d is gone", old.PID); seen != want {
		t.Errorf("seen %q, want %q", seen, want)
	}
	if err := <-done; !errors.Is(err, errKilled) || locks.Classify(err) != locks.Indefinite {
		t.Errorf("the call of a process that was killed: %v", err)
	}
	if _, err := osproc.Find(ctx, old.PID); err == nil {
		t.Error("it is still there")
	}
	if seen, err := c.Resume(ctx); err != nil || !strings.HasSuffix(seen, "is gone") {
		t.Errorf("resumed: %s, %v", seen, err)
	}
	_, err = c.Restart(ctx)
	must(t, err)
	if err := lease.Release(ctx); !errors.Is(err, errKilled) {
		t.Errorf("the new process releases what the old one held: %v", err)
	}
	if _, err := c.Acquire(ctx, "k", time.Minute); !errors.Is(err, locks.ErrTaken) {
		t.Errorf("what the dead one held stays until its TTL ends, got %v", err)
	}
	servers[0].FastForward(2 * time.Minute)
	_, err = c.Acquire(ctx, "k", time.Minute)
	must(t, err)
	must(t, f.Err())
}

// TestLostLease checks that a lease is known to be lost, whether the event comes after the
// answer to the acquire or, as of a worker that stood still in it, before.
func TestLostLease(t *testing.T) {
	for how, token := range map[string]int64{"lost": 7, "lost early": 0} {
		f, c, err := employ(t, how, Setting{})
		must(t, err)
		l, err := c.Acquire(within(t, time.Minute), "k", time.Minute)
		must(t, err)
		if l.Token() != token {
			t.Errorf("%s: token %d, want %d", how, l.Token(), token)
		}
		select {
		case <-l.(locks.Watched).Lost():
		case <-time.After(time.Minute):
			t.Errorf("%s: the holder is not told", how)
		}
		must(t, f.Err())
	}
}

// TestDeaf checks that a worker that does not end with its input is killed.
func TestDeaf(t *testing.T) {
	effort.Real(t)
	me, err := os.Executable()
	must(t, err)
	t.Setenv(behaviourEnv, "deaf")
	ctx, cancel := context.WithCancel(t.Context())
	f, err := NewFleet(ctx, []string{me}, nil)
	must(t, err)
	c, err := f.Start(ctx, "A", func(int) Setting { return Setting{} })
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := c.Acquire(context.Background(), "k", time.Minute)
		done <- err
	}()
	cancel() // Ctrl-C ends the call, though the caller's context does not
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("acquire: %v", err)
	}
	must(t, f.Close())
	if _, err := osproc.Find(t.Context(), c.current().subject.PID); err == nil {
		t.Error("it is still there")
	}
}

// buffer is a log.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
	closed bool
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *buffer) Close() error {
	b.closed = true
	return nil
}

func TestLog(t *testing.T) {
	me, err := os.Executable()
	must(t, err)
	t.Setenv(behaviourEnv, "dies")
	log := new(buffer)
	f, err := NewFleet(t.Context(), []string{me}, func(string) (io.WriteCloser, error) { return log, nil })
	must(t, err)
	c, err := f.Start(t.Context(), "A", func(int) Setting { return Setting{} })
	must(t, err)
	_, _ = c.Acquire(t.Context(), "k", time.Minute) // it dies
	must(t, f.Close())
	if log.String() != "Traceback: no luck\n" || !log.closed {
		t.Errorf("logged %q, closed %t", log.String(), log.closed)
	}
}

// TestEnvironment keeps what lockbench knows of the user's servers from workers.
func TestEnvironment(t *testing.T) {
	t.Setenv("LOCKBENCH_REDIS_USER", "me")
	t.Setenv("LOCKBENCH_REDIS_PASSWORD", "secret")
	f, err := NewFleet(t.Context(), []string{"sh", "-c", "env >&2; exit 3"}, nil)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	_, err = f.Start(t.Context(), "A", func(int) Setting { return Setting{} })
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "LOCKBENCH_REDIS_") {
		t.Error(err)
	}
}
