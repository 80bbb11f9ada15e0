package certify_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// A node is a server with one key, that records what crossed its wire.
type node struct {
	r                *rand.Rand
	owner            uint64 // 0: nobody
	expires          time.Duration
	compares         bool // a release or extend looks whose the key is
	short, overwrite bool // leases are shorter than was asked for; a key is written over now and then
	all              []histories.Exchange
}

// texts are those of the scripts that compare.
func texts(f histories.F) string {
	if f == histories.Extend {
		return "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
	}
	return "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
}

// serve answers a call at an instant. The command was sent, and is answered, a while before and after.
func (s *node) serve(e *histories.Event, sent, at, replied time.Duration) bool {
	if s.owner != 0 && at >= s.expires {
		s.owner = 0
	}
	value, ttl := fmt.Sprint("v", e.Attempt), e.TTL
	if s.short {
		ttl = max(ttl/4, time.Millisecond)
	}
	ms := fmt.Sprint(int64(ttl / time.Millisecond))
	x := histories.Exchange{Sent: sent, Replied: replied, Client: histories.WorkerName(e.Worker), Node: "m1", Conn: e.Worker + 1, Seq: len(s.all) + 1, Reply: "0"}
	mine := s.owner == e.Attempt || !s.compares && s.owner != 0
	done := mine
	switch {
	case e.F == histories.Acquire:
		over := s.overwrite && s.r.IntN(4) == 0
		x.Words, x.Reply = []string{"SET", "k", value, "PX", ms}, "OK"
		if !over {
			x.Words = append(x.Words, "NX")
		}
		if done = over || s.owner == 0; done {
			s.owner = e.Attempt
		} else {
			x.Reply = "nil"
		}
	case s.compares:
		x.Words, x.Script = []string{"EVAL", string(e.F), "1", "k", value, ms}, texts(e.F)
	case e.F == histories.Extend:
		x.Words = []string{"PEXPIRE", "k", ms}
	default:
		x.Words = []string{"DEL", "k"}
	}
	if done && e.F != histories.Release {
		s.expires = at + ttl
	}
	if done && e.F != histories.Acquire {
		x.Reply = "1"
	}
	if done && e.F == histories.Release {
		s.owner = 0
	}
	x.Command = strings.Join(x.Words, " ")
	s.all = append(s.all, x)
	return done
}

// sent is what clients of a node recorded of some calls, and what crossed its wire.
func sent(r *rand.Rand, clients, calls int) ([]histories.Event, []histories.Exchange) {
	s := &node{r: r, compares: r.IntN(3) == 0, short: r.IntN(3) == 0, overwrite: r.IntN(3) == 0}
	var events []histories.Event
	attempt := uint64(0)
	some := func(most time.Duration) time.Duration { return 1 + time.Duration(r.Int64N(int64(most))) }
	all := make([]*client, clients)
	next := func(c *client, now time.Duration) {
		c.invoke = histories.Event{Time: now + some(20*time.Millisecond), Process: c.process, Worker: c.worker, Type: histories.Invoke, Key: "k", Attempt: c.attempt}
		switch {
		case c.attempt == 0:
			attempt++
			c.invoke.F, c.invoke.Attempt, c.invoke.TTL = histories.Acquire, attempt, 100*time.Millisecond
		case r.IntN(4) == 0:
			c.invoke.F, c.invoke.TTL = histories.Extend, time.Duration(10+r.IntN(200))*time.Millisecond
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
		answer.Time, answer.TTL, answer.Type = c.effect+some(8*time.Millisecond), 0, histories.OK
		early, late := (c.effect-c.invoke.Time)/2, (answer.Time-c.effect)/2
		if !s.serve(&c.invoke, c.effect-some(1+early), c.effect, c.effect+some(1+late)) {
			answer.Type = histories.Fail
		}
		events = append(events, answer)
		if c.invoke.F == histories.Acquire && answer.Type == histories.OK {
			c.attempt, c.left = c.invoke.Attempt, 1+r.IntN(3)
		} else if c.left--; c.left <= 0 || c.invoke.F == histories.Release {
			c.attempt = 0
		}
		next(c, answer.Time)
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range events {
		events[i].Index = i
	}
	slices.SortFunc(s.all, histories.Exchange.Compare)
	return events, s.all
}

// TestAgreementByTheWire: what the judges say who know what crossed the wire is proven, whatever the lock does.
func TestAgreementByTheWire(t *testing.T) {
	const seed = 20251126
	verdicts := make(map[string]int)
	for n := range uint64(effort.Count(3_000, 60_000)) {
		r := rand.New(rand.NewPCG(seed, n))
		events, exchanges := sent(r, 2+r.IntN(3), 4+r.IntN(16))
		if err := histories.Validate(events); err != nil {
			t.Fatal(err)
		}
		opt := checker.Options{Commands: checker.NewCommands(exchanges, nil, "register")}
		var commands bytes.Buffer
		if err := histories.WriteExchanges(&commands, exchanges); err != nil {
			t.Fatal(err)
		}
		history := written(t, events)
		c, err := certify.Certify(bytes.NewReader(history), bytes.NewReader(commands.Bytes()), checker.Check(t.Context(), events, opt), terms(opt, commands.Bytes()))
		if err != nil {
			t.Fatalf("history %d of seed %d: %v\n%s", n, seed, err, history)
		}
		for _, u := range c.Unproven {
			if u.Verdict == certificate.Pass || u.Verdict == certificate.Fail {
				t.Errorf("history %d of seed %d: the %s of %s is not proven: %s\n%s%s", n, seed, u.Verdict, u.Rule, u.Reason, history, &commands)
				return
			}
		}
		for _, v := range c.Proven {
			if v.Proof == certificate.ByCommands {
				verdicts[v.Rule+" "+v.Verdict]++
			}
		}
	}
	t.Logf("seed %d, by commands: %v", seed, verdicts)
	if len(verdicts) < 3 {
		t.Errorf("by commands only %v are proven", verdicts)
	}
}
