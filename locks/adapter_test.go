package locks_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// adapted is a world in which the tests below speak for one lock.
type adapted struct {
	*world
	*testing.T
	ctx      context.Context
	embedded *embedded.Cluster
	spec     locks.Spec
	closers  []io.Closer
}

// withLibrary runs check on embedded servers.
func withLibrary(t *testing.T, lock string, check func(*adapted)) {
	t.Helper()
	spec, err := libraries.Catalogue().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	err = onEmbedded(spec, func(w *world) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		a := &adapted{world: w, T: t, ctx: ctx, embedded: w.Cluster.(*embedded.Cluster), spec: spec}
		defer func() {
			for _, c := range a.closers {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
		check(a)
	})
	if err != nil {
		t.Error(err)
	}
}

// client is a connected client of that very name.
func (a *adapted) client(name string) locks.Locker {
	lock := a.spec.New(a.Env(name))
	if c, ok := lock.(locks.Connector); ok {
		a.closers = append(a.closers, c)
		if err := c.Connect(a.ctx); err != nil {
			a.Errorf("connect %s: %v", name, err)
		}
	}
	return lock
}

// link is the way of the client of that very name to a master.
func (a *adapted) link(client string, node int) *wire.Link {
	return a.Cluster.Link(a.Host(client), a.Masters[node])
}

// acquire must succeed.
func (a *adapted) acquire(lock locks.Locker, ttl time.Duration) locks.Lease {
	a.Helper()
	held, err := lock.Acquire(a.ctx, a.Key(), ttl)
	if err != nil {
		a.Errorf("acquire: %v", err)
		return nothing{}
	}
	return held
}

// refused must not get the lock.
func (a *adapted) refused(lock locks.Locker, ttl time.Duration) {
	a.Helper()
	if held, err := lock.Acquire(a.ctx, a.Key(), ttl); !errors.Is(err, locks.ErrTaken) {
		a.Errorf("acquire answered %v, %v; want ErrTaken", held, err)
	}
}

// holders is the number of masters that hold something.
func (a *adapted) holders() int {
	a.Helper()
	nodes, err := a.Inspect(a.Key())
	if err != nil {
		a.Error(err)
	}
	n := 0
	for _, node := range nodes {
		n += min(len(node), 1)
	}
	return n
}

// drop deletes the key on a master.
func (a *adapted) drop(node int) {
	a.Helper()
	if err := a.Env("admin").Nodes[node].Del(a.ctx, a.Key()).Err(); err != nil {
		a.Error(err)
	}
}

// nothing stands for the lease of an acquire that has failed the test already.
type nothing struct{}

func (nothing) Release(context.Context) error               { return nil }
func (nothing) Extend(context.Context, time.Duration) error { return nil }
func (nothing) Lost() <-chan struct{}                       { return nil }
func (nothing) Token() int64                                { return 0 }
func (nothing) Deadline() time.Time                         { return time.Time{} }

// P55: worker-1 takes over what worker-12 holds.
func TestBSMTokenPrefix(t *testing.T) {
	custom, err := libraries.Catalogue().Find("bsm-redislock-custom-token")
	if err != nil {
		t.Fatal(err)
	}
	first, second := custom.ClientName(0), custom.ClientName(1)
	if first != "worker-12" || second != "worker-1" {
		t.Errorf("the first clients are %s and %s, want worker-12 and worker-1", first, second)
	}
	seen := map[string]bool{}
	for i := range 50 {
		seen[custom.ClientName(i)] = true
	}
	if len(seen) != 50 {
		t.Errorf("50 clients have %d names", len(seen))
	}
	withLibrary(t, custom.Name, func(a *adapted) {
		held := a.acquire(a.client(first), time.Minute)
		a.refused(a.client("worker-2"), time.Minute)   // no prefix
		a.refused(a.client("worker-123"), time.Minute) // longer than the holder's
		taken := a.acquire(a.client(second), time.Minute)
		if err := held.Release(a.ctx); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("release by worker-12 after worker-1 has acquired: %v, want ErrNotHeld", err)
		}
		if err := taken.Release(a.ctx); err != nil {
			t.Errorf("release by worker-1: %v", err)
		}
	})
	withLibrary(t, "bsm-redislock", func(a *adapted) {
		a.acquire(a.client(first), time.Minute)
		a.refused(a.client(second), time.Minute)
	})
}

// Without a token the library would draw one.
func TestBSMNeedsAName(t *testing.T) {
	custom, err := libraries.Catalogue().Find("bsm-redislock-custom-token")
	if err != nil {
		t.Fatal(err)
	}
	_, err = custom.New(locks.Env{Nodes: make([]*locks.Client, 1)}).Acquire(t.Context(), "k", time.Second)
	if err == nil {
		t.Error("a client without a name got the lock with a token that nobody chose")
	}
}

// P56: with the server's clock ahead by more than the TTL, everybody has the lock.
func TestRueidislockClientComputedDeadline(t *testing.T) {
	const ttl = 4 * time.Second
	ahead := func(a *adapted) {
		if err := a.embedded.SetClock(a.ctx, a.Masters[0], 2*ttl, 1); err != nil {
			a.Error(err)
		}
	}
	withLibrary(t, "rueidislock", func(a *adapted) {
		ahead(a)
		first, second := a.acquire(a.client("A"), ttl), a.acquire(a.client("B"), ttl)
		for _, held := range []locks.Lease{first, second} {
			if lost(held) {
				t.Error("a loss was told: the holder would know")
			}
			_ = held.Release(a.ctx)
		}
	})
	// Relative times do not mind, until the first renewal.
	withLibrary(t, "rueidislock-px", func(a *adapted) {
		ahead(a)
		held := a.acquire(a.client("A"), ttl)
		b := a.client("B")
		a.refused(b, ttl)
		a.Sleep(ttl/2 + 100*time.Millisecond)
		stolen := a.acquire(b, ttl)
		if lost(held) {
			t.Error("the loss was told: the holder would know")
		}
		_ = held.Release(a.ctx)
		_ = stolen.Release(a.ctx)
	})
}

func lost(held locks.Lease) bool {
	select {
	case <-held.(locks.Watched).Lost():
		return true
	default:
		return false
	}
}

// P26: rueidis sends the script again, which meets its own key and leaves it.
func TestRueidislockLostReply(t *testing.T) {
	const ttl = 4 * time.Second
	for _, lock := range []string{"rueidislock", "rueidislock-px"} {
		withLibrary(t, lock, func(a *adapted) {
			l := a.client("A")
			_ = a.acquire(l, ttl).Release(a.ctx) // so that the script is known
			a.link("A", 0).DropReply(wire.Match{Names: []string{"EVALSHA"}}, wire.CloseConn)
			a.refused(l, ttl)
			if a.holders() != 1 {
				t.Errorf("%s: the key is gone, want an orphan", lock)
			}
			a.Sleep(ttl - time.Second)
			a.refused(l, ttl)
			a.Sleep(time.Second)
			_ = a.acquire(l, ttl).Release(a.ctx)
		})
	}
}

// P37, P62: a holder that is cut off hears of it half a TTL after its lease ended, and
// its release says true.
func TestRueidislockCutOff(t *testing.T) {
	const ttl = 4 * time.Second
	withLibrary(t, "rueidislock", func(a *adapted) {
		l, link := a.client("A"), a.link("A", 0)
		held := a.acquire(l, ttl)
		link.Freeze()
		a.Sleep(ttl + ttl/2 - 100*time.Millisecond)
		stolen := a.acquire(a.client("B"), ttl)
		if lost(held) {
			t.Error("the loss was told before 1.5 TTL")
		}
		a.Sleep(200 * time.Millisecond)
		if !lost(held) {
			t.Error("the loss was not told after 1.5 TTL")
		}
		link.Thaw()
		_ = stolen.Release(a.ctx)

		held = a.acquire(l, ttl)
		link.Cut()
		if err := held.Release(a.ctx); err != nil {
			t.Errorf("release by a client that is cut off: %v; the library is known to say nothing", err)
		}
		link.Heal()
	})
}

// A release that the server does not answer ends with its context.
func TestRueidislockReleaseIsBounded(t *testing.T) {
	withLibrary(t, "rueidislock", func(a *adapted) {
		l, link := a.client("A"), a.link("A", 0)
		held := a.acquire(l, time.Minute)
		link.Freeze()
		defer link.Thaw()
		ctx, cancel := context.WithTimeout(a.ctx, time.Second)
		defer cancel()
		start := time.Now()
		if err := held.Release(ctx); err == nil || locks.Classify(err) != locks.Indefinite {
			t.Errorf("release answered %v, want an indefinite error", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("release took %v, want its time-out", took)
		}
	})
}

// An acquire whose context has ended gives the lease back, and a lease outlives the
// context that it was acquired with.
func TestRueidislockContexts(t *testing.T) {
	const ttl = 4 * time.Second
	withLibrary(t, "rueidislock", func(a *adapted) {
		l := a.client("A")
		ctx, cancel := context.WithTimeout(a.ctx, 100*time.Millisecond)
		held, err := l.Acquire(ctx, a.Key(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		a.Sleep(3 * ttl)
		a.refused(a.client("B"), ttl)
		if err := held.Release(a.ctx); err != nil {
			t.Error(err)
		}

		hold := a.link("A", 0).HoldReply(wire.Match{Names: []string{"EVALSHA"}})
		ctx, cancel = context.WithTimeout(a.ctx, 10*time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx, a.Key(), ttl); err == nil || locks.Classify(err) != locks.Indefinite {
			t.Errorf("acquire answered %v, want an indefinite error", err)
		}
		hold.Release()
		a.Sleep(time.Second)
		if n := a.holders(); n != 0 {
			t.Error("the acquire that was given up left its key")
		}
	})
}

// P25: one master that hangs keeps everybody out, unless the client looks at its deadline.
func TestRedsyncHungNode(t *testing.T) {
	const ttl = 4 * time.Second
	for lock, works := range map[string]bool{
		"redsync":                 false,
		"redsync-context-timeout": true,
		"redsync-fail-fast":       true,
		"redsync-setnx-on-extend": true, // over clients that look at it
	} {
		withLibrary(t, lock, func(a *adapted) {
			l := a.client("A")
			_ = a.acquire(l, ttl).Release(a.ctx)
			link := a.link("A", 2)
			link.Freeze()
			defer link.Thaw()
			start := time.Now()
			held, err := l.Acquire(a.ctx, a.Key(), ttl)
			took := time.Since(start)
			if works != (err == nil) || works != (took < ttl/10) {
				t.Errorf("%s with a master that hangs: %v after %v, want success %v", lock, err, took, works)
			}
			if err != nil && locks.Classify(err) != locks.Indefinite {
				t.Errorf("%s: error %v is definite", lock, err)
			}
			if held != nil {
				ctx, cancel := context.WithTimeout(a.ctx, time.Second)
				defer cancel()
				if err := held.Release(ctx); err != nil {
					t.Errorf("%s: release: %v", lock, err)
				}
			}
		})
	}
}

// P27: with FailFast a SET lands after the release of a successful acquire.
func TestRedsyncFailFastOrphan(t *testing.T) {
	const ttl = 4 * time.Second
	for lock, orphans := range map[string]int{"redsync-fail-fast": 1, "redsync-context-timeout": 0} {
		withLibrary(t, lock, func(a *adapted) {
			l := a.client("A")
			_ = a.acquire(l, ttl).Release(a.ctx)
			a.Sleep(time.Second)
			// Slow, and well within the time-out of 5 %.
			hold := a.link("A", 4).HoldRequest(wire.Match{Names: []string{"SET"}})
			go func() {
				<-hold.Seen()
				time.Sleep(ttl / 40)
				hold.Release()
			}()
			if err := a.acquire(l, ttl).Release(a.ctx); err != nil {
				t.Errorf("%s: release: %v", lock, err)
			}
			a.Sleep(ttl / 20)
			if n := a.holders(); n != orphans {
				t.Errorf("%s: %d masters hold the key after a release that succeeded, want %d", lock, n, orphans)
			}
		})
	}
}

// P38: an extension brings a lease back that another holder has had since.
func TestRedsyncSetNXOnExtend(t *testing.T) {
	const ttl = 4 * time.Second
	for lock, want := range map[string]error{"redsync-setnx-on-extend": nil, "redsync-context-timeout": locks.ErrNotHeld} {
		withLibrary(t, lock, func(a *adapted) {
			held := a.acquire(a.client("A"), ttl)
			a.Sleep(ttl + time.Second)
			if err := a.acquire(a.client("B"), ttl).Release(a.ctx); err != nil {
				t.Error(err)
			}
			if err := held.(locks.Extender).Extend(a.ctx, ttl); !errors.Is(err, want) {
				t.Errorf("%s: extend after another holder came and went: %v, want %v", lock, err, want)
			}
		})
	}
}

// redsync's ErrFailed is the end of a cancelled wait, and of an acquire that took too
// long. It says nothing about the lock.
func TestRedsyncErrFailedIsIndefinite(t *testing.T) {
	withLibrary(t, "redsync", func(a *adapted) {
		pool := goredis.NewPool(a.Env("direct").Nodes[0])
		other := redsync.New(pool).NewMutex(a.Key(), redsync.WithExpiry(time.Minute))
		if err := other.LockContext(a.ctx); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(a.ctx, time.Second)
		defer cancel()
		err := redsync.New(pool).NewMutex(a.Key(), redsync.WithRetryDelay(time.Minute)).LockContext(ctx)
		if !errors.Is(err, redsync.ErrFailed) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that was cut short answered %v; redsync is known to hide that", err)
		}
		if locks.Classify(err) != locks.Indefinite {
			t.Errorf("%v is %v", err, locks.Classify(err))
		}
		if ok, err := other.UnlockContext(a.ctx); !ok {
			t.Fatal(err)
		}

		// All masters say yes, too late.
		const ttl = time.Second
		for i := range a.Masters {
			hold := a.link("A", i).HoldReply(wire.Match{Names: []string{"SET"}})
			go func() {
				<-hold.Seen()
				time.Sleep(2 * ttl)
				hold.Release()
			}()
		}
		_, err = a.client("A").Acquire(a.ctx, a.Key(), ttl)
		if !errors.Is(err, redsync.ErrFailed) || locks.Classify(err) != locks.Indefinite {
			t.Errorf("an acquire that took too long answered %v, want an indefinite ErrFailed", err)
		}
	})
}

// The majority decides, and silence is no answer.
func TestRedsyncAnswers(t *testing.T) {
	for _, tt := range []struct {
		name          string
		dropped, down int // masters that have lost the key, and that cannot be reached
		want          string
	}{
		{"all there", 0, 0, "held"},
		{"minority gone", 2, 0, "held"},
		{"minority down", 0, 2, "held"},
		{"majority gone", 3, 0, "not held"},
		{"majority gone, rest down", 3, 2, "not held"},
		{"majority down", 0, 3, "unknown"},
		{"open", 1, 2, "unknown"},
		{"open, one vote short", 2, 1, "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withLibrary(t, "redsync-context-timeout", func(a *adapted) {
				held := a.acquire(a.client("A"), time.Minute)
				for i := range tt.dropped {
					a.drop(i)
				}
				for i := range tt.down {
					a.link("A", 4-i).Cut()
				}
				for _, call := range []struct {
					name string
					do   func(context.Context) error
				}{
					{"verify", held.(locks.Verifier).Verify},
					{"extend", func(ctx context.Context) error { return held.(locks.Extender).Extend(ctx, time.Minute) }},
					{"release", held.Release},
				} {
					err := call.do(a.ctx)
					got := "unknown"
					switch {
					case err == nil:
						got = "held"
					case errors.Is(err, locks.ErrNotHeld):
						got = "not held"
					}
					if got != tt.want {
						t.Errorf("%s answered %v: %s, want %s", call.name, err, got, tt.want)
					}
				}
			})
		})
	}
}
