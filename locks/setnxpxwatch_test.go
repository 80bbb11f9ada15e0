package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

// watched acquires lockKey for a second and follows the release.
func watched(t *testing.T, newLock func(locks.Env) locks.Locker) (*faulty, *redis.Client, locks.Lease, *script) {
	t.Helper()
	nodes, env := faultyEnv(t, 1)
	held, err := newLock(env).Acquire(t.Context(), lockKey, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return nodes[0], env.Nodes[0], held, follow(nodes[0])
}

func set(t *testing.T, node *faulty, value string) {
	t.Helper()
	if err := node.Set(lockKey, value); err != nil {
		t.Error(err)
	}
}

// The release has one connection, whatever becomes of the idle ones meanwhile.
func TestWatchIsPinned(t *testing.T) {
	for name, newLock := range map[string]func(locks.Env) locks.Locker{
		"setnx-px-watch": constructor("setnx-px-watch"), "setnx-px-get-watch": constructor("setnx-px-get-watch"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, client, held, seen := watched(t, newLock)
				takeIdle(t, client)
				if err := held.Release(t.Context()); err != nil || node.Exists(lockKey) {
					t.Errorf("release answered %v, key left: %v", err, node.Exists(lockKey))
				}
				if n := seen.connections(); n != 1 {
					t.Errorf("%d connections were used for: %s", n, seen.names())
				}
			})
		})
	}
}

// Whatever happens around the release, it tells the truth, deletes nothing of another,
// and its connection goes back to the pool watching nothing.
func TestWatchRelease(t *testing.T) {
	for _, tt := range []struct {
		name     string
		step     func(t *testing.T, node *faulty, seen *script)
		want     error
		left     string // the value of the key afterwards
		commands string
	}{
		{
			"held", func(*testing.T, *faulty, *script) {},
			nil, "", "WATCH GET MULTI DEL EXEC",
		},
		{
			"lost before", func(t *testing.T, node *faulty, _ *script) { set(t, node, "other") },
			locks.ErrNotHeld, "other", "WATCH GET UNWATCH",
		},
		{
			"gone before", func(_ *testing.T, node *faulty, _ *script) { node.Del(lockKey) },
			locks.ErrNotHeld, "", "WATCH GET UNWATCH",
		},
		{
			"lost after GET", func(t *testing.T, node *faulty, seen *script) {
				seen.once("MULTI", func() { set(t, node, "other") })
			},
			locks.ErrNotHeld, "other", "WATCH GET MULTI DEL EXEC WATCH GET UNWATCH",
		},
		{
			"lost before EXEC", func(t *testing.T, node *faulty, seen *script) {
				seen.once("EXEC", func() { set(t, node, "other") })
			},
			locks.ErrNotHeld, "other", "WATCH GET MULTI DEL EXEC WATCH GET UNWATCH",
		},
		{
			"deleted before EXEC", func(_ *testing.T, node *faulty, seen *script) {
				seen.once("EXEC", func() { node.Del(lockKey) })
			},
			locks.ErrNotHeld, "", "WATCH GET MULTI DEL EXEC WATCH GET UNWATCH",
		},
		{
			"another TTL before EXEC", func(_ *testing.T, node *faulty, seen *script) {
				seen.once("EXEC", func() { node.SetTTL(lockKey, time.Minute) })
			},
			nil, "", "WATCH GET MULTI DEL EXEC WATCH GET MULTI DEL EXEC",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, client, held, seen := watched(t, constructor("setnx-px-watch"))
				tt.step(t, node, seen)
				if err := held.Release(t.Context()); !errors.Is(err, tt.want) {
					t.Errorf("release answered %v, want %v", err, tt.want)
				}
				if left, _ := node.Get(lockKey); left != tt.left {
					t.Errorf("the key holds %q, want %q", left, tt.left)
				}
				if got := seen.names(); got != tt.commands {
					t.Errorf("commands are %s, want %s", got, tt.commands)
				}
				checkWatchesNothing(t, node, client)
			})
		})
	}
}

// checkWatchesNothing runs a transaction on the client's one connection, after the key
// has changed.
func checkWatchesNothing(t *testing.T, node *faulty, client *redis.Client) {
	t.Helper()
	if n := client.PoolStats().TotalConns; n > 1 {
		t.Fatalf("the pool has %d connections, and only one can be looked at", n)
	}
	set(t, node, "changed")
	_, err := client.TxPipelined(t.Context(), func(pipe redis.Pipeliner) error {
		return pipe.Get(t.Context(), lockKey).Err()
	})
	if err != nil {
		t.Errorf("a transaction on the connection answered %v: it still watches", err)
	}
}

// The lease ends while EXEC is on its way, and nobody else comes: DEL finds nothing.
func TestWatchReleaseExpiresBeforeExec(t *testing.T) {
	for name, newLock := range map[string]func(locks.Env) locks.Locker{
		"setnx-px-watch": constructor("setnx-px-watch"), "setnx-px-get-watch": constructor("setnx-px-get-watch"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, held, seen := watched(t, newLock)
				seen.once("EXEC", func() { time.Sleep(time.Second) })
				if err := held.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
					t.Errorf("release answered %v, want ErrNotHeld", err)
				}
			})
		})
	}
}

// An error answered in the middle is no refusal, and leaves a clean connection behind.
func TestWatchReleaseErrors(t *testing.T) {
	for _, command := range []string{"WATCH", "GET", "MULTI", "DEL", "EXEC"} {
		t.Run(command, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, client, held, seen := watched(t, constructor("setnx-px-watch"))
				seen.answer(command, func(peer *server.Peer) bool {
					peer.WriteError("ERR not now")
					return true
				})
				err := held.Release(t.Context())
				if err == nil || locks.Classify(err) != locks.Indefinite {
					t.Errorf("release answered %v, want an indefinite error", err)
				}
				checkWatchesNothing(t, node, client)
			})
		})
	}
}

// A reply that is lost takes its connection with it.
func TestWatchReleaseRepliesLost(t *testing.T) {
	for _, command := range []string{"WATCH", "GET", "EXEC"} {
		t.Run(command, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, client, held, seen := watched(t, constructor("setnx-px-watch"))
				seen.once(command, func() { node.swallow.Store(1) })
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				err := held.Release(ctx)
				if err == nil || locks.Classify(err) != locks.Indefinite {
					t.Errorf("release answered %v, want an indefinite error", err)
				}
				if n := client.PoolStats().TotalConns; n != 0 {
					t.Errorf("the pool keeps %d connections, want none", n)
				}
				checkWatchesNothing(t, node, client)
			})
		})
	}
}

// WATCH after GET does not see what happened between them (P09).
func TestGetWatchDeletesAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, _, held, seen := watched(t, constructor("setnx-px-get-watch"))
		seen.once("WATCH", func() { set(t, node, "other") })
		if err := held.Release(t.Context()); err != nil || node.Exists(lockKey) {
			t.Errorf("release answered %v, the other's key left: %v; want it deleted", err, node.Exists(lockKey))
		}
	})
}

// What comes after WATCH it does see.
func TestGetWatchAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, client, held, seen := watched(t, constructor("setnx-px-get-watch"))
		seen.once("MULTI", func() { set(t, node, "other") })
		if err := held.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("release answered %v, want ErrNotHeld", err)
		}
		if left, _ := node.Get(lockKey); left != "other" {
			t.Errorf("the key holds %q, want the other's", left)
		}
		checkWatchesNothing(t, node, client)
	})
}

// The mutant deletes and denies it; where there is no key, or EXEC refuses, it fails (P10).
func TestWatchMisread(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    func(t *testing.T, node *faulty, seen *script)
		outcome locks.Outcome
	}{
		{"held", func(*testing.T, *faulty, *script) {}, locks.Refused},
		{"lost", func(t *testing.T, node *faulty, _ *script) { set(t, node, "other") }, locks.Refused},
		{"gone", func(_ *testing.T, node *faulty, _ *script) { node.Del(lockKey) }, locks.Refused},
		{"lost before EXEC", func(t *testing.T, node *faulty, seen *script) {
			seen.once("EXEC", func() { set(t, node, "other") })
		}, locks.Indefinite},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, client, held, seen := watched(t, constructor("setnx-px-watch-misread"))
				tt.step(t, node, seen)
				err := held.Release(t.Context())
				if err == nil || locks.Classify(err) != tt.outcome {
					t.Errorf("release answered %v, want it %v", err, tt.outcome)
				}
				if tt.name == "held" && node.Exists(lockKey) {
					t.Error("the key is still there")
				}
				checkWatchesNothing(t, node, client)
			})
		})
	}
}
