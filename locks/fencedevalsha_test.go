package locks_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// P57: once its server has forgotten the scripts it can neither release nor acquire, and
// fenced can.
func TestFencedEvalshaForgotten(t *testing.T) {
	for _, tt := range []struct {
		name   string
		lock   func(locks.Env) locks.Locker
		broken bool
	}{
		{"fenced", constructor("fenced"), false},
		{"fenced-evalsha", constructor("fenced-evalsha"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, env := faultyEnv(t, 1)
				lock := tt.lock(env)
				check := func(call string, err error) {
					t.Helper()
					if noscript := err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT"); noscript != tt.broken || err != nil && !noscript {
						t.Errorf("%s after SCRIPT FLUSH answered %v", call, err)
					}
				}
				held, err := lock.Acquire(t.Context(), "orders/42", time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if err := env.Nodes[0].ScriptFlush(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				check("release", held.Release(t.Context()))
				if err := env.Nodes[0].ScriptFlush(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				_, err = lock.Acquire(t.Context(), "orders/43", time.Second)
				check("acquire", err)
			})
		})
	}
}
