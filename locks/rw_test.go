package locks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// fixedClock stands still.
type fixedClock struct {
	clock
	at time.Time
}

func (c fixedClock) Now() time.Time { return c.at }

// aheadClock runs ahead of the others, or behind if by is negative.
type aheadClock struct {
	clock
	by time.Duration
}

func (c aheadClock) Now() time.Time { return c.clock.Now().Add(c.by) }

// readersWriters is a stage for clients of one readers-writer lock.
type readersWriters struct {
	t    *testing.T
	key  string
	make func(locks.Env) locks.Locker
	dial func(t *testing.T) *redis.Client
}

// The leases of the plays. On a real server briefly is waited for.
const (
	briefly = 300 * time.Millisecond
	lasting = time.Minute
)

func (s *readersWriters) client(name string, c locks.Clock) rwClient {
	env := seeded(name)
	env.Clock = c
	env.Nodes = []*redis.Client{s.dial(s.t)}
	lock, ok := s.make(env).(locks.RWLocker)
	if !ok {
		s.t.Fatal("the lock is no RWLocker")
	}
	return rwClient{s, lock}
}

type rwClient struct {
	stage *readersWriters
	lock  locks.RWLocker
}

// read and write must succeed.
func (c rwClient) read(ttl time.Duration) locks.Lease {
	return c.must(c.lock.AcquireRead(c.ctx(), c.stage.key, ttl))
}

func (c rwClient) write(ttl time.Duration) locks.Lease {
	return c.must(c.lock.AcquireWrite(c.ctx(), c.stage.key, ttl))
}

func (c rwClient) must(held locks.Lease, err error) locks.Lease {
	c.stage.t.Helper()
	if err != nil {
		c.stage.t.Fatalf("acquire: %v", err)
	}
	return held
}

// getsIn reports whether a write is let in. The answer must be definite.
func (c rwClient) getsIn(ttl time.Duration) bool {
	c.stage.t.Helper()
	return c.granted(c.lock.AcquireWrite(c.ctx(), c.stage.key, ttl))
}

func (c rwClient) getsInToRead(ttl time.Duration) bool {
	c.stage.t.Helper()
	return c.granted(c.lock.AcquireRead(c.ctx(), c.stage.key, ttl))
}

func (c rwClient) granted(held locks.Lease, err error) bool {
	c.stage.t.Helper()
	if err != nil && (!errors.Is(err, locks.ErrTaken) || held != nil) {
		c.stage.t.Fatalf("acquire answered %v, %v; want a lease or ErrTaken", held, err)
	}
	return err == nil
}

func (c rwClient) ctx() context.Context { return c.stage.t.Context() }

// release ends a lease that may have been lost.
func (c rwClient) release(held locks.Lease) {
	c.stage.t.Helper()
	if err := held.Release(c.ctx()); err != nil && !errors.Is(err, locks.ErrNotHeld) {
		c.stage.t.Fatalf("release: %v", err)
	}
}

// rwFlaw is a play whose end shows a flaw of E's locks.
type rwFlaw struct {
	name   string
	broken map[string]func(locks.Env) locks.Locker
	// play reports whether two were inside that must not be.
	play func(s *readersWriters) bool
}

func rwFlaws() []rwFlaw {
	twoKey := map[string]func(locks.Env) locks.Locker{"rw-two-key": constructor("rw-two-key")}
	timestamp := map[string]func(locks.Env) locks.Locker{"rw-hash-timestamp": constructor("rw-hash-timestamp")}
	both := map[string]func(locks.Env) locks.Locker{"rw-two-key": constructor("rw-two-key"), "rw-hash-timestamp": constructor("rw-hash-timestamp")}
	return []rwFlaw{
		{"P40 a reader deletes a reader", twoKey, func(s *readersWriters) bool {
			a, b, w := s.client("A", clock{}), s.client("B", clock{}), s.client("W", clock{})
			left := a.read(lasting)
			b.read(lasting)
			a.release(left)
			return w.getsIn(lasting)
		}},
		{"P42 a reader overwrites a timestamp", timestamp, func(s *readersWriters) bool {
			a, b, w := s.client("A", clock{}), s.client("B", clock{}), s.client("W", clock{})
			a.read(lasting)
			time.Sleep(2 * time.Millisecond)
			b.release(b.read(lasting))
			return w.getsIn(lasting)
		}},
		{"P43 two readers in one millisecond", timestamp, func(s *readersWriters) bool {
			now := fixedClock{at: time.Now()}
			a, b, w := s.client("A", now), s.client("B", now), s.client("W", now)
			left := a.read(lasting)
			b.read(lasting)
			a.release(left)
			return w.getsIn(lasting)
		}},
		{"P43 a late release in the next writer's millisecond", timestamp, func(s *readersWriters) bool {
			now := fixedClock{at: time.Now()}
			a, b, c := s.client("A", now), s.client("B", now), s.client("C", now)
			late := a.write(briefly)
			time.Sleep(briefly + slack)
			b.write(lasting)
			a.release(late)
			return c.getsIn(lasting)
		}},
		{"P44 a client's clock is ahead", timestamp, func(s *readersWriters) bool {
			s.client("A", clock{}).write(lasting)
			return s.client("B", aheadClock{by: 2 * lasting}).getsIn(lasting)
		}},
		{"P44 a reader's clock is ahead", timestamp, func(s *readersWriters) bool {
			s.client("A", clock{}).write(lasting)
			return s.client("B", aheadClock{by: 2 * lasting}).getsInToRead(lasting)
		}},
		{"P63 a late writer deletes the next", twoKey, func(s *readersWriters) bool {
			a, b, c := s.client("A", clock{}), s.client("B", clock{}), s.client("C", clock{})
			late := a.write(briefly)
			time.Sleep(briefly + slack)
			b.write(lasting)
			a.release(late)
			return c.getsIn(lasting)
		}},
		{"P64 a reader shortens the key's TTL", both, func(s *readersWriters) bool {
			a, b, w := s.client("A", clock{}), s.client("B", clock{}), s.client("W", clock{})
			a.read(lasting)
			b.read(briefly)
			time.Sleep(briefly + slack)
			return w.getsIn(lasting)
		}},
		{"P64 the key's TTL is shorter than the time-out", map[string]func(locks.Env) locks.Locker{
			"rw-hash-timestamp": func(env locks.Env) locks.Locker {
				return locks.NewRWHashTimestampWith(env, locks.RWTimeouts{Key: briefly})
			},
		}, func(s *readersWriters) bool {
			s.client("A", clock{}).write(lasting)
			time.Sleep(briefly + slack)
			return s.client("B", clock{}).getsIn(lasting)
		}},
		{"P65 a write judged by another writer's time-out", timestamp, func(s *readersWriters) bool {
			s.client("A", clock{}).write(lasting)
			time.Sleep(briefly + slack)
			return s.client("B", clock{}).getsIn(briefly)
		}},
		{"P65 a read judged by a writer's time-out", timestamp, func(s *readersWriters) bool {
			s.client("A", clock{}).read(lasting)
			time.Sleep(briefly + slack)
			return s.client("B", clock{}).getsIn(briefly)
		}},
		{"P65 a write judged by a reader's time-out", timestamp, func(s *readersWriters) bool {
			s.client("A", clock{}).write(lasting)
			time.Sleep(briefly + slack)
			return s.client("B", clock{}).getsInToRead(briefly)
		}},
	}
}

// slack is how much later than promised a server may let a hold end.
const slack = 5 * time.Millisecond

// Each flaw of E's locks shows, and rw-hash survives the same steps.
func TestReadersWriterFlaws(t *testing.T) {
	for _, flaw := range rwFlaws() {
		flaw.check(t, func(t *testing.T, run func(*readersWriters)) {
			synctest.Test(t, func(t *testing.T) {
				node := newFaulty(t)
				run(&readersWriters{t: t, key: "orders/42", dial: node.client})
			})
		})
	}
}

func TestReadersWriterFlawsOnRealServer(t *testing.T) {
	path := locktest.NeedRedis(t)
	dial := startRedis(t, path)
	for _, flaw := range rwFlaws() {
		flaw.check(t, func(t *testing.T, run func(*readersWriters)) {
			run(&readersWriters{t: t, key: t.Name(), dial: func(t *testing.T) *redis.Client {
				client := locks.NewClient(dial)
				t.Cleanup(func() { _ = client.Close() })
				return client
			}})
		})
	}
}

func (f rwFlaw) check(t *testing.T, stage func(*testing.T, func(*readersWriters))) {
	play := func(name string, lock func(locks.Env) locks.Locker, want bool) {
		t.Run(f.name+"/"+name, func(t *testing.T) {
			stage(t, func(s *readersWriters) {
				s.make = lock
				if got := f.play(s); got != want {
					t.Errorf("two were inside that must not be: %v, want %v", got, want)
				}
			})
		})
	}
	for name, lock := range f.broken {
		play(name, lock, true)
	}
	play("rw-hash", constructor("rw-hash"), false)
}

// P45: a reader comes every 50 ms and stays for 100 ms; a writer tries every 20 ms.
func TestWriterAmongReaders(t *testing.T) {
	const tick, forever = 10 * time.Millisecond, 10 * time.Second
	for _, tt := range []struct {
		name string
		lock func(locks.Env) locks.Locker
		in   time.Duration // when the writer gets in; 0: never
	}{
		{"rw-two-key", constructor("rw-two-key"), 0},
		{"rw-hash-timestamp", constructor("rw-hash-timestamp"), 0},
		{"rw-hash", constructor("rw-hash"), 100 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &readersWriters{t: t, key: "orders/42", make: tt.lock, dial: newFaulty(t).client}
				r, w := s.client("R", clock{}), s.client("W", clock{})
				type inside struct {
					held  locks.Lease
					until time.Duration
				}
				var readers []inside
				for now := time.Duration(0); now < forever; now += tick {
					readers = slices.DeleteFunc(readers, func(x inside) bool {
						if x.until == now {
							r.release(x.held)
						}
						return x.until == now
					})
					if now%(50*time.Millisecond) == 0 {
						held, err := r.lock.AcquireRead(t.Context(), s.key, time.Second)
						if r.granted(held, err) {
							readers = append(readers, inside{held, now + 100*time.Millisecond})
						}
					}
					if now%(20*time.Millisecond) == 0 && w.getsIn(time.Second) {
						if now != tt.in || tt.in == 0 {
							t.Errorf("the writer got in after %v, want %v (0: never)", now, tt.in)
						}
						if len(readers) > 0 {
							t.Errorf("%d readers were inside", len(readers))
						}
						return
					}
					time.Sleep(tick)
				}
				if tt.in != 0 {
					t.Errorf("the writer did not get in for %v", forever)
				}
			})
		})
	}
}

// P41: a cluster refuses a script whose keys are in different slots.
func TestRWTwoKeyCrossesSlots(t *testing.T) {
	const key = "orders/42"
	if a, b := hashTag(key), hashTag(locks.ReadKey(key)); a == b {
		t.Errorf("both keys have the tag %q", a)
	}
}

// The source counts in seconds. Other TTLs are kept, not cut.
func TestRWTwoKeyTTL(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 1500 * time.Millisecond, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			node := newFaulty(t)
			s := &readersWriters{t: t, key: "orders/42", make: constructor("rw-two-key"), dial: node.client}
			a := s.client("A", clock{})
			a.release(a.write(ttl))
			a.read(ttl)
			if got := node.TTL(locks.ReadKey(s.key)); got != ttl {
				t.Errorf("the TTL is %v, want %v", got, ttl)
			}
		})
	}
}

// The article's time-outs: the holder is told its own kind's.
func TestRWHashTimestampDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timeouts := locks.RWTimeouts{Key: 10 * time.Second, Read: time.Second, Write: 3 * time.Second}
		node := newFaulty(t)
		s := &readersWriters{t: t, key: "orders/42", dial: node.client, make: func(env locks.Env) locks.Locker {
			return locks.NewRWHashTimestampWith(env, timeouts)
		}}
		a := s.client("A", clock{})
		start := time.Now()
		write := a.write(time.Minute)
		if got := write.Deadline().Sub(start); got != timeouts.Write {
			t.Errorf("a write is held for %v, want %v", got, timeouts.Write)
		}
		if got := node.TTL(s.key); got != timeouts.Key {
			t.Errorf("the key's TTL is %v, want %v", got, timeouts.Key)
		}
		a.release(write)
		if got := a.read(time.Minute).Deadline().Sub(start); got != timeouts.Read {
			t.Errorf("a read is held for %v, want %v", got, timeouts.Read)
		}
	})
}

// The release scripts of E answer nothing: a release of what is gone looks like any other.
func TestRWHashTimestampReleaseAlwaysWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, env := faultyEnv(t, 1)
		held, err := constructor("rw-hash-timestamp")(env).Acquire(t.Context(), "orders/42", briefly)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(briefly)
		if err := held.Release(t.Context()); err != nil {
			t.Errorf("release after the lease ended: %v", err)
		}
		node[0].down.Store(true)
		if err := held.Release(t.Context()); err == nil || !strings.Contains(err.Error(), errDown.Error()) {
			t.Errorf("release with the server down: %v, want %v", err, errDown)
		}
	})
}
