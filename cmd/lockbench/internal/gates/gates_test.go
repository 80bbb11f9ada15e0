package gates_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gates"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/scenarios"
)

// run plays a schedule with the lock that it is about, and returns what waited for what.
func run(t *testing.T, text string) (all []report.Gate, res harness.Result) {
	t.Helper()
	s, err := scenarios.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := libraries.Catalogue().Find(s.Broken().Lock)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(lock, s.Broken().Guard, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Calls = true
	if res, err = harness.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return gates.Of(s.Script.Schedule, res), res
}

func found(t *testing.T, lock string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "internal", "explore", "found", lock+".schedule"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestHeld: the command that a rule met, what began when it had, and what went on when it was let go.
func TestHeld(t *testing.T) {
	for lock, want := range map[string][]report.Gate{
		"setnx-px-get-del": {
			{At: "master", Condition: "wait held A", Rule: "at A.2 GET#1 reply: hold"},
			{At: "B", Condition: "wait done B.1"},
			{Goes: "A", Condition: "let-go A"},
			{At: "A", Goes: "C", Condition: "after A.2"},
		},
		"redsync": {
			{At: "n1", Condition: "wait held B", Rule: "at B.1 SET#1 request: hold"},
			{Goes: "n1", Condition: "wait held B"},
			{Goes: "n1", Condition: "let-go B"},
			{At: "B", Condition: "wait done B.1"},
		},
		"setnx-px-lua-resend": {{Goes: "master", Condition: "at A.1 SET#1 reply: lose"}},
		"getset":              {{At: "A", Goes: "B", Condition: "after A.1"}, {At: "A", Goes: "C", Condition: "after A.2"}},
		"exists-set":          nil,
	} {
		got, res := run(t, found(t, lock))
		if len(got) != len(want) {
			t.Errorf("%s: %d things waited, want %d: %+v", lock, len(got), len(want), got)
			continue
		}
		for i, g := range got {
			if g.From > g.To || g.Event < 0 || g.Event >= len(res.Events) {
				t.Errorf("%s: what waited from %v to %v for event %d is not in the run", lock, g.From, g.To, g.Event)
			}
			if g.From, g.To, g.Event = 0, 0, 0; g != want[i] {
				t.Errorf("%s: %+v, want %+v", lock, g, want[i])
			}
		}
	}
}

// TestAfter: a call that waits for the end of another client's begins with it.
func TestAfter(t *testing.T) {
	got, res := run(t, `lockbench schedule 1
clients 2
faultless

A: acquire, sleep 0.5T, release
B: acquire after A.2, release
wait done A B

expect setnx-px-lua
`)
	if len(got) != 1 || got[0].At != "A" || got[0].Goes != "B" || got[0].Condition != "after A.2" {
		t.Fatalf("%+v, want that B waited for A.2", got)
	}
	if e := res.Events[got[0].Event]; e.Time != got[0].From || e.Worker != 0 || got[0].To < got[0].From {
		t.Errorf("%+v rests on %+v, want the end of A's release", got[0], e)
	}
}
