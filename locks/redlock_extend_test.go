package locks_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

func TestRedlockExtend(t *testing.T) {
	const (
		longer, shorter = 10 * time.Second, time.Second
		// What is left of a lease: less 1 % and 2 ms.
		acquired, extended, shortened = 3958 * time.Millisecond, 9898 * time.Millisecond, 988 * time.Millisecond
	)
	for _, tt := range []struct {
		name  string
		nodes string // '.', a fault, or 'e': the key has gone from the node
		ttl   time.Duration
		want  string        // see heldOrNot
		ends  time.Duration // the deadline, from the acquire; it was extended after a second
		keys  string        // x: a key of the lease with its old TTL, n: with the new one
	}{
		{"all held", ".....", longer, "held", time.Second + extended, "nnnnn"},
		{"all held, shorter", ".....", shorter, "held", time.Second + shortened, "nnnnn"},
		{"minority gone, and stays gone", "e...e", longer, "held", time.Second + extended, "-nnn-"},
		{"minority taken", "tt...", longer, "held", time.Second + extended, "--nnn"},
		{"minority down", "dd...", longer, "held", time.Second + extended, "xxnnn"},
		{"minority hangs", "hh...", longer, "held", time.Second + extended, "nnnnn"},
		{"majority down", "ddd..", longer, "open", acquired, "xxxnn"},
		{"majority down, shorter", "ddd..", shorter, "open", time.Second + shortened, "xxxnn"},
		{"majority answers nothing", "hhh..", shorter, "open", time.Second + shortened, "nnnnn"},
		{"undecided", "eed..", longer, "open", acquired, "--xnn"},
		{"majority gone", "eee..", longer, "not held", acquired, "-----"},
		{"majority taken", "ttt..", longer, "not held", acquired, "-----"},
		{"gone, taken, rest down", "eetdd", longer, "not held", acquired, "---xx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, len(tt.nodes))
				for _, node := range env.Nodes { // the first answer is the script's
					if err := locks.Load(t.Context(), node); err != nil {
						t.Fatal(err)
					}
				}
				start := time.Now()
				held, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				for i := range nodes {
					if tt.nodes[i] == 'e' {
						nodes[i].Del(redKey)
						continue
					}
					spoil(t, nodes[i], env.Nodes[i], tt.nodes[i])
				}
				before := time.Now()
				err = held.(locks.Extender).Extend(t.Context(), tt.ttl)
				if got := heldOrNot(err); got != tt.want {
					t.Errorf("extend answered %v, want %s", err, tt.want)
				}
				if got := held.Deadline().Sub(start); got != tt.ends {
					t.Errorf("the lease ends %v after the acquire, want %v", got, tt.ends)
				}
				spent := time.Since(before)
				// A hung node costs the time-out of the lease, or of the extension if that is less.
				if most := min(nodeTimeout, max(tt.ttl/20, 50*time.Millisecond)); strings.Contains(tt.nodes, "h") && spent != most {
					t.Errorf("extend took %v, want %v", spent, most)
				}
				keys := []byte(ownKeys(nodes))
				for i, node := range nodes {
					if keys[i] == 'x' && node.TTL(redKey)+spent == tt.ttl {
						keys[i] = 'n'
					}
				}
				if string(keys) != tt.keys {
					t.Errorf("keys are on %s, want %s", keys, tt.keys)
				}
				for i, node := range nodes {
					if value, err := node.Get(redKey); tt.nodes[i] == 't' && (value != "another" || err != nil) {
						t.Errorf("another's key on node %d is %q now, %v", i+1, value, err)
					}
				}
			})
		})
	}
}

// What has expired is not brought back.
func TestRedlockExtendAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 5)
		held, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(redTTL)
		if err := held.(locks.Extender).Extend(t.Context(), redTTL); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("extend after expiry answered %v, want ErrNotHeld", err)
		}
		if keys := ownKeys(nodes); keys != "-----" {
			t.Errorf("keys are back on %s", keys)
		}
	})
}

// A lease may be extended between its deadline and its expiry: a majority has held all along.
func TestRedlockExtendOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, env := faultyEnv(t, 5)
		held, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			time.Sleep(redTTL - time.Millisecond)
			if err := held.(locks.Extender).Extend(t.Context(), redTTL); err != nil {
				t.Fatal(err)
			}
		}
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Time spent extending counts as that spent acquiring does.
func TestRedlockExtendValidity(t *testing.T) {
	for _, tt := range []struct {
		spent time.Duration
		ok    bool
	}{
		{3957 * time.Millisecond, true},
		{3958 * time.Millisecond, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, env := faultyEnv(t, 5)
			leap := &leapClock{}
			env.Clock = leap
			held, err := constructor("redlock")(env).Acquire(t.Context(), redKey, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			*leap = leapClock{leap: tt.spent}
			err = held.(locks.Extender).Extend(t.Context(), redTTL)
			if ok := err == nil; ok != tt.ok {
				t.Errorf("extend answered %v after %v, want success %v", err, tt.spent, tt.ok)
			}
			if !tt.ok && (err == nil || locks.Classify(err) != locks.Indefinite || !strings.Contains(err.Error(), "the answers took")) {
				t.Errorf("%v, want an indefinite error that says it took too long", err)
			}
			if got := held.Deadline().Sub(start); got != 3958*time.Millisecond {
				t.Errorf("the lease ends after %v, want 3.958s in any case", got)
			}
		})
	}
}

func TestRedlockExtendRefusesInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 5)
		held, err := constructor("redlock")(env).Acquire(t.Context(), redKey, redTTL)
		if err != nil {
			t.Fatal(err)
		}
		before := held.Deadline()
		for _, ttl := range []time.Duration{-1, 0, time.Microsecond, 2 * time.Millisecond, time.Second + 1} {
			var input *locks.InputError
			if err := held.(locks.Extender).Extend(t.Context(), ttl); !errors.As(err, &input) || input.Field != "ttl" {
				t.Errorf("extend for %v answered %v, want an InputError about the TTL", ttl, err)
			}
		}
		if !held.Deadline().Equal(before) || nodes[0].TTL(redKey) != redTTL {
			t.Error("refused input changed the lease")
		}
	})
}
