package checker

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// harmless is a good history, and mutations are what can be done to it, each with the
// properties that must fail then, and no others.
const harmless = `
	A acquire 0 1 ok ttl=1000 deadline=1000 token=1
	B acquire 2 3 fail ttl=1000
	A read 4 5 ok version=0 token=1
	A write 6 7 ok version=0 token=1
	A release 8 9 ok
	B acquire 10 11 ok ttl=1000 deadline=1010 token=2
	C acquire 12 13 fail ttl=1000
	B read 14 15 ok version=1 token=2
	B write 16 17 ok version=1 token=2
	B release 18 19 ok
	C acquire 20 21 ok ttl=1000 deadline=1020 token=3
	C release 22 23 ok
	A acquire 2000 2001 ok ttl=1000 deadline=3000 token=4
	A release 2002 2003 ok`

func mutations() map[string]struct {
	replace []string // pairs of old and new
	fails   string
} {
	return map[string]struct {
		replace []string
		fails   string
	}{
		"nothing": {nil, ""},
		"double grant": {
			[]string{"C acquire 12 13 fail ttl=1000", "C acquire 12 13 ok ttl=1000 deadline=1012 token=3\n C release 13.1 13.2 ok", "ok ttl=1000 deadline=1020 token=3", "ok ttl=1000 deadline=1020 token=4", "token=4\n\tA release 2002", "token=5\n\tA release 2002"},
			"mutual-exclusion lease-exclusion lease-honoured",
		},
		"early expiry": {
			[]string{"A release 8 9 ok", "A abandon 8"},
			"lease-honoured",
		},
		"stale token": {
			[]string{"deadline=1020 token=3", "deadline=1020 token=1"},
			"fencing",
		},
		"foreign release": {
			[]string{
				"A release 8 9 ok", "A abandon 8", "B acquire 10 11 ok ttl=1000 deadline=1010", "B acquire 1010 1011 ok ttl=1000 deadline=2010",
				"C acquire 12 13", "C acquire 1012 1013", "B read 14 15", "B read 1014 1015", "B write 16 17", "B write 1016 1017",
				"B release 18 19 ok", "A release 1018 1019 ok\n B release 1020 1021 fail", "C acquire 20 21 ok ttl=1000 deadline=1020", "C acquire 1022 1023 ok ttl=1000 deadline=2022",
				"C release 22 23", "C release 1024 1025",
			},
			"ownership truthful-replies",
		},
		"lost update": {
			[]string{"A write 6 7 ok version=0 token=1", "", "B read 14 15 ok version=1", "B read 14 15 ok version=0", "B write 16 17 ok version=1 token=2", "B write 16 17 ok version=0 token=2\n A write 17.1 17.2 ok version=1"},
			"resource-safety",
		},
		"lost wake-up": {
			[]string{"C release 22 23 ok", "C release 22 23 ok\n B acquire 30 31 fail ttl=1000\n B acquire 1600 1601 fail ttl=1000"},
			"truthful-replies deadlock-freedom availability",
		},
		"denied": {
			[]string{"B release 18 19 ok", "B release 18 19 fail"},
			"truthful-replies",
		},
	}
}

func TestMutations(t *testing.T) {
	for name, m := range mutations() {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(m.replace...).Replace(harmless)
			report := Check(t.Context(), script(t, text), Options{})
			if len(report.HarnessErrors) > 0 {
				t.Fatal(report.HarnessErrors)
			}
			var failed []string
			for _, res := range report.Results {
				switch res.Verdict {
				case Fail:
					failed = append(failed, string(res.Property))
				case Unknown:
					t.Errorf("%s is unknown: %s", res.Property, res.Story)
				}
			}
			if got := strings.Join(failed, " "); got != m.fails {
				t.Errorf("failed: %s, want %s", got, m.fails)
				for _, res := range report.Results {
					t.Logf("%s: %s", res.Property, res.Story)
				}
			}
		})
	}
}

// TestMetamorphic changes random histories in ways that must not matter: a legal history
// stays legal without one of its attempts, and with a call that begins earlier or returns
// later; and who is called what changes nothing at all.
func TestMetamorphic(t *testing.T) {
	const seed = 20250102
	n := effort.Count(2_000, 6_000)
	legal, changed := 0, map[string]int{}
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		events := randomHistory(rng)
		was := strictly(t, events)
		if got := strictly(t, renamed(events)); got != was {
			t.Fatalf("history %d of seed %d is legal: %v, but under other names: %v\n%s", i, seed, was, got, show(events))
		}
		if !was {
			continue
		}
		legal++
		for name, change := range map[string]func(*rand.Rand, []histories.Event) []histories.Event{"dropped": dropped, "widened": widened} {
			after := change(rng, events)
			if after == nil {
				continue
			}
			changed[name]++
			if !strictly(t, after) {
				t.Fatalf("history %d of seed %d is legal, but not with %s:\n%s\n%s", i, seed, name, show(events), show(after))
			}
		}
	}
	if t.Logf("%d of %d histories are legal; %v", legal, n, changed); legal < n/10 || changed["dropped"] < n/10 || changed["widened"] < n/20 {
		t.Error("too few to say anything")
	}
}

// strictly reports whether both engines find a history legal in the strict reading.
func strictly(t *testing.T, events []histories.Event) bool {
	t.Helper()
	res, err := specOf(t, StrictExclusion).of(t.Context(), events, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Verdict != Fail
}

func renamed(events []histories.Event) []histories.Event {
	var all []histories.Event
	for _, e := range events {
		e.Process, e.Worker, e.Attempt = 7*e.Process+100, 50-e.Worker, 1_000-e.Attempt
		if e.F == histories.Crash {
			e.Attempt = 0
		}
		all = append(all, e)
	}
	return all
}

// dropped is the history without one attempt.
func dropped(rng *rand.Rand, events []histories.Event) []histories.Event {
	victim := events[rng.IntN(len(events))].Attempt
	var all []histories.Event
	for _, e := range events {
		if e.Attempt != victim || e.F == histories.Crash {
			e.Index = len(all)
			all = append(all, e)
		}
	}
	return all
}

// widened is the history with one invocation earlier or one return later, past a neighbour
// of another worker; nil if the draw finds none.
func widened(rng *rand.Rand, events []histories.Event) []histories.Event {
	i := rng.IntN(len(events) - 1)
	a, b := events[i], events[i+1]
	returns := a.Type != histories.Invoke && !a.Single()
	if a.Worker == b.Worker || a.F == histories.Crash || b.F == histories.Crash || b.Type != histories.Invoke && !returns {
		return nil
	}
	all := append([]histories.Event(nil), events...)
	all[i], all[i+1] = b, a
	all[i].Index, all[i+1].Index, all[i].Time, all[i+1].Time = i, i+1, a.Time, b.Time
	return all
}
