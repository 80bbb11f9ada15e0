package certify_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// A server holds one key, and lets it go when its lease is over, a little early if its clock is fast. It
// knows nothing of how verdicts are proven. A broken one lets go whenever it likes.
type server struct {
	r       *rand.Rand
	owner   uint64
	expires time.Duration
	broken  bool
}

// serve answers a call at an instant.
func (s *server) serve(e *histories.Event, at time.Duration) bool {
	if s.owner != 0 && (at >= s.expires || s.broken && s.r.IntN(8) == 0) {
		s.owner = 0
	}
	lease := func() { s.expires = at + e.TTL - time.Duration(s.r.Int64N(int64(e.TTL/100))) }
	switch {
	case e.F == histories.Acquire && s.owner == 0:
		s.owner = e.Attempt
		lease()
	case e.F == histories.Acquire || s.owner != e.Attempt:
		return false
	case e.F == histories.Extend:
		lease()
	default:
		s.owner = 0
	}
	return true
}

// A client makes one call after the other.
type client struct {
	worker, process int
	invoke          histories.Event
	effect          time.Duration // when the server gets the call
	attempt         uint64        // that it holds, as far as it knows; 0: none
	left            int           // calls on it
}

// played is what clients of a server recorded of some calls.
func played(r *rand.Rand, clients, calls int, broken bool) []histories.Event {
	s := &server{r: r, broken: broken}
	var events []histories.Event
	attempt := uint64(0)
	some := func(most time.Duration) time.Duration { return 1 + time.Duration(r.Int64N(int64(most))) }
	all := make([]*client, clients)
	next := func(c *client, now time.Duration) {
		c.invoke = histories.Event{Time: now + some(20*time.Millisecond), Process: c.process, Worker: c.worker, Type: histories.Invoke, Key: "k", Attempt: c.attempt}
		switch {
		case c.attempt == 0:
			attempt++
			c.invoke.F, c.invoke.Attempt, c.invoke.TTL = histories.Acquire, attempt, 50*time.Millisecond
		case r.IntN(3) == 0:
			c.invoke.F, c.invoke.TTL = histories.Extend, time.Duration(10+r.IntN(60))*time.Millisecond
		default:
			c.invoke.F = histories.Release
		}
		c.effect = c.invoke.Time + some(8*time.Millisecond)
		events = append(events, c.invoke)
	}
	for i := range all {
		all[i] = &client{worker: i, process: i}
		next(all[i], 0)
	}
	for range calls {
		c := slices.MinFunc(all, func(a, b *client) int { return cmp.Compare(a.effect, b.effect) })
		answer := c.invoke
		answer.Time, answer.TTL = c.effect+some(8*time.Millisecond), 0
		lost := r.IntN(10) == 0
		arrives := !lost || r.IntN(2) == 0
		done := arrives && s.serve(&c.invoke, c.effect)
		switch {
		case lost:
			answer.Type, c.process = histories.Info, c.process+clients
		case done:
			answer.Type = histories.OK
			if c.invoke.TTL > 0 && r.IntN(8) > 0 {
				answer.Deadline = c.invoke.Time + c.invoke.TTL
			}
		default:
			answer.Type = histories.Fail
		}
		events = append(events, answer)
		if c.invoke.F == histories.Acquire && answer.Type != histories.Fail {
			c.attempt, c.left = c.invoke.Attempt, 1+r.IntN(3)
		} else if c.left--; c.left <= 0 {
			c.attempt = 0
		}
		next(c, answer.Time)
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}

func written(t testing.TB, events []histories.Event) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := histories.WriteJSONL(&text, events); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestSound: of what clients of a sound lock recorded nothing can be proven that accuses it, and almost
// always an explanation is found. Of a broken lock all fails are proven.
func TestSound(t *testing.T) {
	const seed = 20251123
	explained, sound, fails := 0, 0, 0
	for n := range uint64(effort.Count(300, 10_000)) {
		r := rand.New(rand.NewPCG(seed, n))
		broken := n%2 == 1
		events := played(r, 2+r.IntN(3), 4+r.IntN(20), broken)
		opt := checker.Options{Properties: []checker.Property{
			checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.Ownership, checker.TruthfulReplies,
		}}
		history := written(t, events)
		c, err := certify.Certify(bytes.NewReader(history), nil, checker.Check(t.Context(), events, opt), certify.Terms(opt))
		if err != nil {
			t.Fatalf("history %d of seed %d: %v\n%s", n, seed, err, history)
		}
		if err := certificate.Verify(bytes.NewReader(history), nil, c); err != nil {
			t.Errorf("history %d of seed %d: %v\n%s", n, seed, err, history)
		}
		if broken {
			fails += count(c, certificate.Fail)
			continue
		}
		sound++
		if len(c.Explanations) > 0 {
			explained++
		}
		found, err := certificate.Examine(bytes.NewReader(history), certify.Terms(opt))
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range []checker.Property{checker.LeaseHonoured, checker.Ownership, checker.TruthfulReplies} {
			if all := found.Fails(string(rule), certificate.BySearch, 1); len(all) > 0 {
				t.Errorf("history %d of seed %d: %v is proven\n%s", n, seed, all[0], history)
			}
		}
	}
	t.Logf("explained %d of %d sound, proven %d fails", explained, sound, fails)
	if 10*explained < 7*sound || fails == 0 {
		t.Errorf("explained %d of %d sound, want 7 of 10; %d fails, want some", explained, sound, fails)
	}
}

func count(c certificate.Certificate, verdict string) (n int) {
	for _, v := range c.Proven {
		if v.Verdict == verdict {
			n++
		}
	}
	return n
}
