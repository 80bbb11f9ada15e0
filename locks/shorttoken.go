package locks

import (
	"fmt"
	"io"
	"strconv"
)

func shortTokenSpec() Spec {
	return Spec{
		Name:     "short-token",
		Title:    "setnx-px-lua whose tokens are one of 32",
		Source:   "mutant of setnx-px-lua",
		Masters:  1,
		Variant:  "setnx-px-lua",
		HasToken: true,
		Promises: Promises{ReleasesRefused: true},
		New:      newShortToken,
	}
}

// newShortToken returns the lock short-token, whose tokens are one of 32.
//
//	acquire, release  as setnx-px-lua
//
// It is setnx-px-lua with tokens like random.randint(1, 32).
//
// Broken: sooner or later the next holder has the token of a late one, whose release is then
// taken for its own (P80).
func newShortToken(env Env) Locker {
	lock := newSetNXPX(env, compareAndDelete)
	lock.token = func(env Env) (string, error) {
		var b [1]byte
		if _, err := io.ReadFull(env.Rand, b[:]); err != nil {
			return "", fmt.Errorf("random token: %w", err)
		}
		return strconv.Itoa(int(b[0]%32) + 1), nil
	}
	return lock
}
