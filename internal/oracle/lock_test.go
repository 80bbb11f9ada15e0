package oracle

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A fault is what a lock does wrong, half of the time.
type fault int

const (
	sound         fault = iota
	deletesAny          // a release deletes whatever is there
	saysDone            // a release or extend says "done" to everybody
	overwrites          // an acquire does not ask whether somebody has the lock
	extendsAny          // an extend extends whatever is there
	denies              // a release or extend is refused to the holder, and done or not
	halves              // a lease is half as long as was asked for
	refuses             // an acquire is refused when the lock is free
	countsNot           // a re-entry is not counted
	deletesAll          // a release gives back all entries
	repeatsTokens       // a token is used again
	shortens            // a re-entry shortens the lease
	faults
)

// A server is the lock that answers what is planned.
type server struct {
	fault fault
	rng   *rand.Rand
	now   time.Duration
	keys  []entry
	token int64
}

type entry struct {
	who, attempt, count int
	mode                histories.Mode
	until               time.Duration
	token               int64
}

// errs reports whether the server does something wrong now.
func (v *server) errs(f fault) bool { return v.fault == f && v.rng.IntN(2) == 0 }

func (v *server) until(ttl time.Duration) time.Duration {
	switch {
	case ttl == 0:
		return 1 << 62
	case v.errs(halves):
		return v.now + ttl/2
	}
	return v.now + ttl
}

func (v *server) answer(c *call) histories.Type {
	v.keys = slices.DeleteFunc(v.keys, func(k entry) bool { return k.until <= v.now })
	own := slices.IndexFunc(v.keys, func(k entry) bool {
		return k.who == c.who && (k.attempt == c.attempt || c.mode == histories.Reentrant)
	})
	switch c.f {
	case histories.Acquire:
		return v.acquire(c, own)
	case histories.Count:
		c.count = 0
		if own >= 0 {
			c.count = v.keys[own].count
		}
		return histories.OK
	}
	if own < 0 && len(v.keys) > 0 && (c.f == histories.Release && v.errs(deletesAny) || c.f == histories.Extend && v.errs(extendsAny)) {
		own = 0
	}
	denied := own >= 0 && v.errs(denies)
	if denied && v.rng.IntN(2) == 0 {
		return histories.Fail
	}
	if own >= 0 {
		v.touch(c, own)
	}
	if denied || own < 0 && !v.errs(saysDone) {
		return histories.Fail
	}
	return histories.OK
}

func (v *server) touch(c *call, own int) {
	if c.f == histories.Extend {
		v.keys[own].until = v.until(c.ttl)
		return
	}
	if v.keys[own].count--; v.keys[own].count == 0 || v.errs(deletesAll) {
		v.keys = slices.Delete(v.keys, own, own+1)
	}
}

func (v *server) acquire(c *call, own int) histories.Type {
	if v.errs(refuses) {
		return histories.Fail
	}
	if own >= 0 {
		k := &v.keys[own]
		if !v.errs(countsNot) {
			k.count++
		}
		if until := v.until(c.ttl); until > k.until || v.errs(shortens) {
			k.until = until
		}
		c.token = k.token
		return histories.OK
	}
	for _, k := range v.keys {
		if k.mode == histories.Shared && c.mode == histories.Shared {
			continue
		}
		if !v.errs(overwrites) {
			return histories.Fail
		}
		v.keys = nil
		break
	}
	if !v.errs(repeatsTokens) {
		v.token++
	}
	c.token = v.token
	v.keys = append(v.keys, entry{who: c.who, attempt: c.attempt, count: 1, mode: c.mode, until: v.until(c.ttl), token: v.token})
	return histories.OK
}
