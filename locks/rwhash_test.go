package locks_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// inRWHash runs play in a bubble with one server.
func inRWHash(t *testing.T, play func(t *testing.T, s *readersWriters, node *faulty)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		node := newFaulty(t)
		play(t, &readersWriters{t: t, key: "orders/42", make: constructor("rw-hash"), dial: node.client}, node)
	})
}

// What a writer costs readers that was refused and never came back.
func TestWriterIntentIsBounded(t *testing.T) {
	for _, tt := range []struct {
		ttl, intent time.Duration
	}{
		{time.Minute, locks.WriterIntent},
		{locks.WriterIntent, locks.WriterIntent},
		{100 * time.Millisecond, 100 * time.Millisecond},
	} {
		t.Run(tt.ttl.String(), func(t *testing.T) {
			inRWHash(t, func(t *testing.T, s *readersWriters, node *faulty) {
				a, b, w := s.client("A", clock{}), s.client("B", clock{}), s.client("W", clock{})
				held := a.read(lasting)
				if w.getsIn(tt.ttl) {
					t.Fatal("a writer got in while a reader was inside")
				}
				a.release(held)
				time.Sleep(tt.intent - time.Microsecond)
				if b.getsInToRead(lasting) {
					t.Error("a new reader got in while a writer was waited for")
				}
				time.Sleep(time.Microsecond)
				if node.Exists(s.key) {
					t.Error("the key outlived the intent")
				}
				if !b.getsInToRead(lasting) {
					t.Error("readers were kept out for longer than the intent")
				}
			})
		})
	}
}

// Only writes that readers refuse prolong an intent, and no short one cuts it.
func TestWriterIntentIsProlonged(t *testing.T) {
	inRWHash(t, func(t *testing.T, s *readersWriters, _ *faulty) {
		a, b, w := s.client("A", clock{}), s.client("B", clock{}), s.client("W", clock{})
		a.read(lasting)
		w.getsIn(lasting)
		time.Sleep(locks.WriterIntent - 10*time.Millisecond)
		w.getsIn(lasting)
		w.getsIn(time.Millisecond)
		b.getsInToRead(lasting)
		time.Sleep(locks.WriterIntent - 10*time.Millisecond)
		if b.getsInToRead(lasting) {
			t.Error("the second refusal did not prolong the intent")
		}
		time.Sleep(10 * time.Millisecond)
		if !b.getsInToRead(lasting) {
			t.Error("a refused reader prolonged the intent")
		}
	})
}

// The intent refuses nobody but new readers, and goes with the first writer.
func TestWriterIntentEnds(t *testing.T) {
	inRWHash(t, func(t *testing.T, s *readersWriters, _ *faulty) {
		a, b := s.client("A", clock{}), s.client("B", clock{})
		w, x := s.client("W", clock{}), s.client("X", clock{})
		held := a.read(time.Second)
		w.getsIn(lasting)
		if err := held.(locks.Extender).Extend(t.Context(), lasting); err != nil {
			t.Errorf("extend of a reader while a writer waits: %v", err)
		}
		a.release(held)
		first := x.write(lasting) // not the one that waited
		if w.getsIn(lasting) {
			t.Error("two writers are inside")
		}
		x.release(first)
		if !b.getsInToRead(lasting) {
			t.Error("the intent outlived a writer, or a writer that a writer refused left one")
		}
	})
}

// P46, and what else is refused to the holder itself.
func TestRWHashIsNotReentrant(t *testing.T) {
	inRWHash(t, func(t *testing.T, s *readersWriters, _ *faulty) {
		a, w := s.client("A", clock{}), s.client("W", clock{})
		held := a.write(lasting)
		if a.getsIn(lasting) || a.getsInToRead(lasting) {
			t.Error("the writer got in again")
		}
		a.release(held)
		held = a.read(lasting)
		second := a.read(lasting)
		if a.getsIn(lasting) {
			t.Error("a reader became a writer")
		}
		a.release(held)
		if w.getsIn(lasting) {
			t.Error("the second read ended with the first")
		}
		if a.getsInToRead(lasting) {
			t.Error("a nested read passed a waiting writer")
		}
		a.release(second)
		if !w.getsIn(lasting) {
			t.Error("the writer was refused when all reads had ended")
		}
	})
}

// After a lost reply nobody knows which deadline counts.
func TestRWHashExtendWithoutReply(t *testing.T) {
	for _, tt := range []struct{ extend, left time.Duration }{
		{time.Minute, 10 * time.Second},
		{time.Second, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			nodes, env := faultyEnv(t, 1)
			held, err := constructor("rw-hash")(env).Acquire(t.Context(), "orders/42", 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			nodes[0].swallow.Store(1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := held.(locks.Extender).Extend(ctx, tt.extend); err == nil || locks.Classify(err) != locks.Indefinite {
				t.Errorf("extend answered %v, want an indefinite error", err)
			}
			if got := held.Deadline().Sub(start); got != tt.left-time.Microsecond {
				t.Errorf("%v are left, want %v less 1µs", got, tt.left)
			}
		})
	}
}

// A value that is not the lock's own is an error and stays as it is.
func TestRWHashRefusesWrongTypes(t *testing.T) {
	inRWHash(t, func(t *testing.T, s *readersWriters, node *faulty) {
		if err := node.Set(s.key, "another"); err != nil {
			t.Fatal(err)
		}
		a := s.client("A", clock{})
		for _, acquire := range []func(context.Context, string, time.Duration) (locks.Lease, error){
			a.lock.AcquireRead, a.lock.AcquireWrite,
		} {
			held, err := acquire(t.Context(), s.key, lasting)
			if err == nil || locks.Classify(err) != locks.Indefinite || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("acquire answered %v, %v; want an indefinite error about the type", held, err)
			}
		}
		if got, err := node.Get(s.key); got != "another" || err != nil {
			t.Errorf("the value is %q now, %v", got, err)
		}
	})
}

// rwModel is rw-hash in plain Go.
type rwModel struct {
	holders map[locks.Lease]time.Time // deadlines
	writing bool
	intent  time.Time
}

func (m *rwModel) purge(now time.Time) {
	maps.DeleteFunc(m.holders, func(_ locks.Lease, end time.Time) bool { return !end.After(now) })
	m.writing = m.writing && len(m.holders) > 0
}

func (m *rwModel) mayRead(now time.Time) bool { return !m.writing && !m.intent.After(now) }
func (m *rwModel) mayWrite() bool             { return len(m.holders) == 0 }

// last is when the key expires.
func (m *rwModel) last(now time.Time) time.Time {
	last := now
	for _, end := range append(slices.Collect(maps.Values(m.holders)), m.intent) {
		if end.After(last) {
			last = end
		}
	}
	return last
}

// Random clients get the answers of the model, and the key ends with its last holder.
func TestRWHashFollowsItsModel(t *testing.T) {
	const steps = 300
	seeds := effort.Count(30, 30)
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		inRWHash(t, func(t *testing.T, s *readersWriters, node *faulty) {
			rng := rand.New(rand.NewPCG(seed, seed))
			a := s.client(fmt.Sprint(seed), clock{})
			m := &rwModel{holders: map[locks.Lease]time.Time{}}
			var leases []locks.Lease // also such as have ended
			time.Sleep(time.Duration(rng.IntN(1e9)))
			for range steps {
				ttl := time.Duration(1+rng.IntN(200)) * time.Millisecond
				now := time.Now()
				server := now.Truncate(time.Microsecond) // as TIME tells it
				end := server.Add(ttl)
				m.purge(server)
				var what string
				var got, expected bool
				switch op := rng.IntN(10); {
				case op < 3 || len(leases) == 0:
					held, err := a.lock.AcquireRead(t.Context(), s.key, ttl)
					what, got, expected = "read", a.granted(held, err), m.mayRead(server)
					if got {
						m.holders[held], leases = end, append(leases, held)
					}
				case op < 5:
					held, err := a.lock.AcquireWrite(t.Context(), s.key, ttl)
					what, got, expected = "write", a.granted(held, err), m.mayWrite()
					switch {
					case got:
						m.holders[held], leases = end, append(leases, held)
						m.writing, m.intent = true, time.Time{}
					case !m.writing && end.After(m.intent): // all TTLs are shorter than WriterIntent
						m.intent = end
					}
				default:
					held := leases[rng.IntN(len(leases))]
					_, expected = m.holders[held]
					var err error
					switch {
					case op < 7:
						what, err = "release", held.Release(t.Context())
						delete(m.holders, held)
						m.purge(server)
					case op < 9:
						what, err = "extend", held.(locks.Extender).Extend(t.Context(), ttl)
						if expected {
							m.holders[held] = end
						}
					default:
						what, err = "verify", held.(locks.Verifier).Verify(t.Context())
					}
					if err != nil && !errors.Is(err, locks.ErrNotHeld) {
						t.Fatal(err)
					}
					got = err == nil
				}
				if got != expected {
					t.Fatalf("seed %d: %s answered %v, want %v", seed, what, got, expected)
				}
				seen[fmt.Sprint(what, got)]++
				for held, end := range m.holders {
					if early := end.Sub(held.Deadline()); early < 0 || early > 2*time.Microsecond {
						t.Fatalf("seed %d: the holder believes in a deadline %v before the server's", seed, early)
					}
				}
				var want time.Duration // of the key's TTL; 0: there is no key
				if end := m.last(server); end.After(server) {
					want = end.Add(time.Millisecond - time.Microsecond).Truncate(time.Millisecond).Sub(now)
				}
				if got := node.TTL(s.key); got != want {
					t.Fatalf("seed %d: after %s the key's TTL is %v, want %v", seed, what, got, want)
				}
				time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond * time.Duration(rng.IntN(2)))
				time.Sleep(time.Duration(rng.IntN(3000)))
			}
		})
	}
	for _, what := range []string{"read", "write", "release", "extend", "verify"} {
		if seen[what+"true"] < seeds || seen[what+"false"] < seeds {
			t.Errorf("%s was let through %d times and refused %d times: too few to tell", what, seen[what+"true"], seen[what+"false"])
		}
	}
}
