package locks_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/locks"
)

const lockKey = "orders/42"

// Two clients that both see no key both hold the lock (P03).
func TestExistsSetLetsTwoIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		a, b := constructor("exists-set")(env), constructor("exists-set")(another(t, nodes[0], "B"))
		follow(nodes[0]).once("SET", func() {
			if _, err := b.Acquire(t.Context(), lockKey, time.Second); err != nil {
				t.Errorf("B: %v", err)
			}
		})
		if _, err := a.Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Errorf("A: %v", err)
		}
	})
}

// The locks without a TTL say so, and keep the key for ever.
func TestNoTTL(t *testing.T) {
	for name, newLock := range map[string]func(locks.Env) locks.Locker{
		"exists-set": constructor("exists-set"), "setnx": constructor("setnx"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, 1)
				held, err := newLock(env).Acquire(t.Context(), lockKey, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if d := held.Deadline(); !d.IsZero() {
					t.Errorf("deadline is %v, want none", d)
				}
				time.Sleep(time.Hour)
				if !nodes[0].Exists(lockKey) {
					t.Error("the key is gone")
				}
			})
		})
	}
}

// A lease may be taken over once the taker's clock is past its end, to the millisecond.
// getset adds a second to the end for clocks that differ.
func TestTakeOverByClock(t *testing.T) {
	const ttl = 2 * time.Second
	for _, tt := range []struct {
		name      string
		newLock   func(locks.Env) locks.Locker
		tolerance time.Duration
		commands  string
	}{
		{"setnx-timestamp-del", constructor("setnx-timestamp-del"), 0, "SETNX GET DEL SETNX"},
		{"getset", constructor("getset"), time.Second, "SETNX GET GETSET EXPIRE"},
	} {
		for _, ahead := range []struct {
			by    time.Duration
			taken bool
		}{
			{0, true},
			{ttl + tt.tolerance - time.Millisecond, true},
			{ttl + tt.tolerance, true}, // at its end, not past it
			{ttl + tt.tolerance + time.Millisecond, false},
			{time.Hour, false},
		} {
			t.Run(fmt.Sprintf("%s %v ahead", tt.name, ahead.by), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					nodes, env := faultyEnv(t, 1)
					if _, err := tt.newLock(env).Acquire(t.Context(), lockKey, ttl); err != nil {
						t.Fatal(err)
					}
					fast := another(t, nodes[0], "B")
					fast.Clock = skewed{ahead: ahead.by}
					seen := follow(nodes[0])
					_, err := tt.newLock(fast).Acquire(t.Context(), lockKey, ttl)
					if ahead.taken {
						if !errors.Is(err, locks.ErrTaken) {
							t.Errorf("acquire answered %v, want ErrTaken", err)
						}
						if got := seen.names(); got != "SETNX GET" {
							t.Errorf("commands: %s", got)
						}
						return
					}
					if err != nil { // P06: nothing has ended
						t.Errorf("acquire answered %v, want the lease", err)
					}
					if got := seen.names(); got != tt.commands {
						t.Errorf("commands are %s, want %s", got, tt.commands)
					}
				})
			})
		}
	}
}

// Both find the same lease ended. Whoever deletes second deletes a lock that has just
// been taken (P04).
func TestTimestampDelRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		setEnded(t, nodes[0])
		a, b := constructor("setnx-timestamp-del")(env), constructor("setnx-timestamp-del")(another(t, nodes[0], "B"))
		follow(nodes[0]).once("DEL", func() {
			if _, err := b.Acquire(t.Context(), lockKey, time.Second); err != nil {
				t.Errorf("B: %v", err)
			}
		})
		if _, err := a.Acquire(t.Context(), lockKey, time.Second); err != nil {
			t.Errorf("A: %v", err)
		}
	})
}

// In the same race one client loses, but its GETSET has moved the winner's end and
// dropped its TTL (P05).
func TestGetSetOverwrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		setEnded(t, nodes[0])
		loser, winner := constructor("getset")(env), constructor("getset")(another(t, nodes[0], "B"))
		follow(nodes[0]).once("GETSET", func() {
			if _, err := winner.Acquire(t.Context(), lockKey, time.Second); err != nil {
				t.Errorf("winner: %v", err)
			}
			if ttl := nodes[0].TTL(lockKey); ttl != time.Second {
				t.Errorf("the winner's TTL is %v, want 1s", ttl)
			}
		})
		if _, err := loser.Acquire(t.Context(), lockKey, time.Minute); !errors.Is(err, locks.ErrTaken) {
			t.Errorf("loser: %v, want ErrTaken", err)
		}
		value, err := nodes[0].Get(lockKey)
		want := strconv.FormatInt(time.Now().Add(time.Minute+time.Second).UnixMilli(), 10)
		if err != nil || value != want || nodes[0].TTL(lockKey) != 0 {
			t.Errorf("the winner's key holds %q, %v with TTL %v; want the loser's %s and none", value, err, nodes[0].TTL(lockKey), want)
		}
	})
}

// A key that is released between the loser's GET and GETSET becomes one of nobody.
func TestGetSetMakesOrphan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		setEnded(t, nodes[0])
		follow(nodes[0]).once("GETSET", func() { nodes[0].Del(lockKey) })
		if _, err := constructor("getset")(env).Acquire(t.Context(), lockKey, time.Second); !errors.Is(err, locks.ErrTaken) {
			t.Errorf("acquire answered %v, want ErrTaken", err)
		}
		if !nodes[0].Exists(lockKey) {
			t.Error("no key was left")
		}
	})
}

// setEnded leaves what a client leaves that crashed right after SETNX, long ago.
func setEnded(t *testing.T, node *faulty) {
	t.Helper()
	if err := node.Set(lockKey, strconv.FormatInt(time.Now().Add(-time.Minute).UnixMilli(), 10)); err != nil {
		t.Fatal(err)
	}
}

// A value that is no instant is an error and no refusal: nobody knows whose it is. B's getset calls every error a
// refusal.
func TestTimestampOfAnother(t *testing.T) {
	for name, refused := range map[string]bool{"setnx-timestamp-del": false, "getset": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, 1)
				if err := nodes[0].Set(lockKey, "3f9a"); err != nil {
					t.Fatal(err)
				}
				_, err := constructor(name)(env).Acquire(t.Context(), lockKey, time.Second)
				if err == nil || (locks.Classify(err) == locks.Refused) != refused {
					t.Errorf("acquire answered %v, want an error, and a refusal: %v", err, refused)
				}
				if value, _ := nodes[0].Get(lockKey); value != "3f9a" {
					t.Errorf("the key holds %q now", value)
				}
			})
		})
	}
}

// EXPIRE refuses a fraction after SETNX has been done, and the client calls that a refusal (P28).
func TestLuaSetNXExpireFraction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		lock := constructor("lua-setnx-expire")(env)
		_, err := lock.Acquire(t.Context(), lockKey, 1500*time.Millisecond)
		if !errors.Is(err, locks.ErrTaken) {
			t.Errorf("acquire for 1.5s answered %v, want ErrTaken", err)
		}
		if !nodes[0].Exists(lockKey) || nodes[0].TTL(lockKey) != 0 {
			t.Errorf("key left: %v with TTL %v; want one without", nodes[0].Exists(lockKey), nodes[0].TTL(lockKey))
		}
		nodes[0].Del(lockKey)
		if _, err := lock.Acquire(t.Context(), lockKey, 2*time.Second); err != nil || nodes[0].TTL(lockKey) != 2*time.Second {
			t.Errorf("acquire for 2s: %v, TTL %v", err, nodes[0].TTL(lockKey))
		}
	})
}

// Both scripts of B, as the server sees their arguments.
func TestSecondsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		if err := locks.Load(t.Context(), env.Nodes[0]); err != nil {
			t.Fatal(err)
		}
		seen := follow(nodes[0])
		for _, ttl := range []time.Duration{time.Second, 48 * time.Hour, 500 * time.Millisecond} {
			held, err := constructor("lua-setnx-expire")(env).Acquire(t.Context(), lockKey, ttl)
			if err == nil {
				err = held.Release(t.Context())
			}
			if fraction := ttl%time.Second != 0; fraction != (err != nil) {
				t.Errorf("ttl %v: %v", ttl, err)
			}
		}
		want := []string{
			"EVALSHA 1 orders/42 1 1", "SETNX orders/42 1", "EXPIRE orders/42 1", "DEL orders/42",
			"EVALSHA 1 orders/42 1 172800", "SETNX orders/42 1", "EXPIRE orders/42 172800", "DEL orders/42",
			"EVALSHA 1 orders/42 1 0.5", "SETNX orders/42 1", "EXPIRE orders/42 0.5",
		}
		if diff := cmp.Diff(want, seen.take()); diff != "" {
			t.Errorf("commands (-want +got):\n%s", diff)
		}
	})
}
