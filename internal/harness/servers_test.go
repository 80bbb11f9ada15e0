package harness_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/scenarios"
)

// outcomes of the calls of one client, in order, as the history has them.
func outcomes(events []histories.Event, client string, f histories.F) (all []histories.Event) {
	for _, e := range events {
		if e.F == f && e.Type != histories.Invoke && e.Worker >= 0 && histories.WorkerName(e.Worker) == client {
			all = append(all, e)
		}
	}
	return all
}

func played(t *testing.T, name, lock string) []histories.Event {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(find(t, lock), resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, cfg).Events
}

// TestMinorityDown looks at what no judge says of P19: with two of five servers down the
// lock is granted, and with three down it is not.
func TestMinorityDown(t *testing.T) {
	for lock, last := range map[string]histories.Type{
		"redlock": histories.Info, "redsync-context-timeout": histories.Info, "redlock-answers-only": histories.OK,
	} {
		events := played(t, "redlock-minority-down", lock)
		a, b := outcomes(events, "A", histories.Acquire), outcomes(events, "B", histories.Acquire)
		if len(a) == 0 || a[len(a)-1].Type != histories.OK {
			t.Errorf("%s, two servers down: %+v, want a lease", lock, a)
		}
		if len(b) < 2 || b[0].Type != histories.Fail || b[len(b)-1].Type != last {
			t.Errorf("%s, held and then three servers down: %+v, want a refusal and then %s", lock, b, last)
		}
	}
}

// TestWrongtypeIsClear looks at what locks answer in P53.
func TestWrongtypeIsClear(t *testing.T) {
	for lock, acquire := range map[string]string{
		"reentrant-hash": "WRONGTYPE", "fenced": "WRONGTYPE", "setnx-px-lua": "lock is taken", "setnx-px-watch": "lock is taken",
	} {
		events := played(t, "wrongtype-collision", lock)
		b, a := outcomes(events, "B", histories.Acquire), outcomes(events, "A", histories.Release)
		if len(b) < 2 || !strings.Contains(b[0].Err, acquire) || b[len(b)-1].Type != histories.OK {
			t.Errorf("%s: acquires of a key with a list, and then of a free one: %+v, want %q and then a lease", lock, b, acquire)
		}
		if len(a) != 1 || !strings.Contains(a[0].Err, "WRONGTYPE") {
			t.Errorf("%s: release of a key with a list: %+v, want WRONGTYPE", lock, a)
		}
	}
}

// TestFixedClocks: what needs a server with another clock is not simulated where there is none.
func TestFixedClocks(t *testing.T) {
	locktest.NeedRedis(t)
	s, err := scenarios.Find("client-computed-deadline")
	if err != nil {
		t.Fatal(err)
	}
	cfg := scenario(t, s, scenarios.Case{Lock: "setnx-px-lua"}, harness.Process())
	cfg.Clocks = false // the servers are not started for it
	if _, err := harness.Run(t.Context(), cfg); !errors.Is(err, nemesis.ErrNoClocks) {
		t.Errorf("got %v, want %v", err, nemesis.ErrNoClocks)
	}
}
