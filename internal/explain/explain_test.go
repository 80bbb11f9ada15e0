package explain

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// parse reads calls: who, what, attempt, from and to in milliseconds, outcome and, in milliseconds, a TTL.
func parse(t *testing.T, text string) []Call {
	t.Helper()
	verbs := map[string]histories.F{"acq": histories.Acquire, "rel": histories.Release, "ext": histories.Extend}
	var calls []Call
	for line := range strings.Lines(text) {
		var who, verb, outcome string
		var from, to, ttl int
		var c Call
		n, _ := fmt.Sscan(line, &who, &verb, &c.Attempt, &from, &to, &outcome, &ttl)
		if n == 0 {
			continue
		}
		if n < 6 {
			t.Fatalf("%q has %d fields, want 6 or 7", line, n)
		}
		c.F, c.Worker, c.TTL = verbs[verb], int(who[0]), milliseconds(ttl)
		// One event for each millisecond orders them as well.
		c.Invoked = histories.Instant{Event: from, Time: milliseconds(from)}
		c.Returned = histories.Instant{Event: to, Time: milliseconds(to)}
		c.Outcome = map[string]histories.Type{"ok": histories.OK, "refused": histories.Fail, "info": histories.Info}[outcome]
		calls = append(calls, c)
	}
	return calls
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func TestRule(t *testing.T) {
	for _, c := range []struct {
		name, calls string
		want        Rulings
	}{
		{
			name: "nothing is wrong", want: Rulings{Kept, Kept, Kept, Kept, Kept},
			calls: `A acq 1 0 10 ok 100
				A rel 1 20 30 ok
				B acq 2 25 40 ok 100`,
		},
		{
			name: "one lease was cut short, or begun late", want: Rulings{Kept, Kept, Kept, Kept, Kept},
			calls: `A acq 1 0 60 ok 100
				B acq 2 120 130 ok 100`,
		},
		{
			name: "a lease was owed", want: Rulings{Leases: Broken, Ownership: Kept, Truth: Kept, Reentry: Kept, Fencing: Kept},
			calls: `A acq 1 0 10 ok 1000
				B acq 2 20 30 ok 1000`,
		},
		{
			name: "three leases in the time of two", want: Rulings{Leases: Broken, Ownership: Kept, Truth: Kept, Reentry: Kept, Fencing: Kept},
			calls: `A acq 1 0 70 ok 40
				B acq 2 1 71 ok 40
				C acq 3 2 72 ok 40`,
		},
		{
			name: "it was not his, and he did not say so", want: Rulings{Leases: Kept, Ownership: Kept, Truth: Broken, Reentry: Kept, Fencing: Kept},
			calls: `A acq 1 0 10 ok 1000
				A rel 1 20 30 refused`,
		},
		{
			name: "his release ended what was another's", want: Rulings{Leases: Kept, Ownership: Broken, Truth: Broken, Reentry: Kept, Fencing: Kept},
			calls: `A acq 1 0 10 ok 100
				B acq 2 200 210 ok 10000
				A rel 1 300 310 ok
				B rel 2 400 410 refused`,
		},
		{
			name: "it may have had its effect at any time since", want: Rulings{Kept, Kept, Kept, Kept, Kept},
			calls: `A acq 1 0 10 ok 10000
				A rel 1 20 30 info
				A ext 1 40 50 ok 10000
				B acq 2 60 70 ok 10000`,
		},
	} {
		var s Searcher
		calls := parse(t, c.calls)
		if got := s.Rule(calls, 0); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		for i := range calls { // another clock
			calls[i].Invoked.Time += 1 << 60
			calls[i].Returned.Time += 1 << 60
		}
		if got := s.Rule(calls, 0); got != c.want {
			t.Errorf("%s, later: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestInstants compares what settles with all whole instants in a small span.
func TestInstants(t *testing.T) {
	const span, acts = 6, 3
	can, cannot := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 20261123))
		s := search{acts: make([]act, acts), lags: []lag{{}}}
		var in instants
		var lags []lag
		for i := range acts {
			in.at[i], s.latest[i] = time.Duration(rng.IntN(span)), time.Duration(span)
		}
		first := in.at
		got := true
		for range 2 + rng.IntN(5) {
			l := lag{from: int8(rng.IntN(acts)), to: int8(rng.IntN(acts)), by: time.Duration(rng.IntN(9) - 5)}
			lags = append(lags, l)
			got = got && s.learn(&in, l)
		}
		want := false
		for code := range (span + 1) * (span + 1) * (span + 1) {
			at := [acts]time.Duration{time.Duration(code % (span + 1)), time.Duration(code / (span + 1) % (span + 1)), time.Duration(code / (span + 1) / (span + 1))}
			keeps := true
			for i := range acts {
				keeps = keeps && at[i] >= first[i]
			}
			for _, l := range lags {
				keeps = keeps && at[l.to] >= at[l.from]+l.by
			}
			want = want || keeps
		}
		if got != want {
			t.Fatalf("seed %d, from %v, %+v: %v, want %v", seed, first[:acts], lags, got, want)
		}
		if got {
			can++
		} else {
			cannot++
		}
	}
	if can == 0 || cannot == 0 {
		t.Errorf("%d can be and %d cannot, want some of both", can, cannot)
	}
}
