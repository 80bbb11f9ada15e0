package locks_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// Scripts are sent again when the server has forgotten them (P57). A broken lock may
// not get as far as that.
func TestScriptFlush(t *testing.T) {
	for _, spec := range libraries.Catalogue() {
		if !spec.Sound || len(spec.Commands) > 0 { // which plain miniredis does not know
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, env := faultyEnv(t, spec.Masters)
				lock := spec.New(env)
				if closer, ok := lock.(io.Closer); ok {
					defer closer.Close()
				}
				for range 3 {
					held, err := lock.Acquire(t.Context(), "orders/42", time.Second)
					if err != nil {
						t.Fatal(err)
					}
					for _, node := range env.Nodes {
						if err := node.ScriptFlush(t.Context()).Err(); err != nil {
							t.Fatal(err)
						}
					}
					if err := held.Release(t.Context()); err != nil {
						t.Fatalf("release after SCRIPT FLUSH: %v", err)
					}
				}
			})
		})
	}
}

// Once loaded, no script is sent in full.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, env := faultyEnv(t, 1)
		if err := locks.Load(t.Context(), env.Nodes[0]); err != nil {
			t.Fatal(err)
		}
		nodes[0].Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
			if command != "EVAL" {
				return false
			}
			peer.WriteError("ERR a script was sent in full")
			return true
		})
		held, err := constructor("fenced")(env).Acquire(t.Context(), "orders/42", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A value that is not the lock's own is an error, and the failed script leaves no lock.
func TestFencedRefusesWrongTypes(t *testing.T) {
	const key = "orders/42"
	for _, tt := range []struct {
		name  string
		spoil func(node *faulty) error
	}{
		{"lock is a hash", func(n *faulty) error { n.HSet(key, "field", "value"); return nil }},
		{"counter is a hash", func(n *faulty) error { n.HSet(locks.FenceKey(key), "field", "value"); return nil }},
		{"counter is a word", func(n *faulty) error { return n.Set(locks.FenceKey(key), "seven") }},
		{"counter is at its end", func(n *faulty) error { return n.Set(locks.FenceKey(key), "9223372036854775807") }},
		{"counter is negative", func(n *faulty) error { return n.Set(locks.FenceKey(key), "-5") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, env := faultyEnv(t, 1)
				if err := tt.spoil(nodes[0]); err != nil {
					t.Fatal(err)
				}
				held, err := constructor("fenced")(env).Acquire(t.Context(), key, time.Second)
				if err == nil || locks.Classify(err) != locks.Indefinite {
					t.Errorf("acquire answered %v, %v; want an error that is no refusal", held, err)
				}
				if nodes[0].Exists(key) && nodes[0].Type(key) == "string" {
					t.Error("the failed acquire left a lock")
				}
			})
		})
	}
}

// The counter must be in the lock's slot of a cluster.
func TestFenceKey(t *testing.T) {
	for key, want := range map[string]string{
		"orders/42":    "{orders/42}:fence",
		"{user1}.cart": "{user1}.cart:fence",
		"a{b":          "{a{b}:fence",
	} {
		got := locks.FenceKey(key)
		if got != want || hashTag(got) != hashTag(key) {
			t.Errorf("FenceKey(%q) = %q with tag %q, want %q with tag %q", key, got, hashTag(got), want, hashTag(key))
		}
	}
}

// hashTag is the part of a key that decides about its slot, by the cluster specification.
func hashTag(key string) string {
	_, rest, opened := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	if opened && closed && tag != "" {
		return tag
	}
	return key
}
