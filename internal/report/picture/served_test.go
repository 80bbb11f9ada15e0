package picture

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
)

const ms = time.Millisecond

// x is a command that took a millisecond.
func x(at time.Duration, client, command, reply string) histories.Exchange {
	return histories.Exchange{Sent: at, Replied: at + ms, Client: client, Node: "master", Conn: 1, Command: command, Reply: reply}
}

// op is a call of a client, or a fault of a node.
func op(from, to time.Duration, worker int, f histories.F, outcome histories.Type, node string) histories.Op {
	process := worker
	if worker < 0 {
		process = histories.Nemesis
	}
	e := histories.Event{Time: from, Process: process, Worker: worker, Type: histories.Invoke, F: f, TTL: 3 * time.Second, Node: node}
	if worker >= 0 {
		e.Key = "k"
	}
	done := e
	done.Time, done.Type = to, outcome
	return histories.Op{Invoke: e, Complete: done, Done: true}
}

func TestWhatServersHeld(t *testing.T) {
	late := x(10*ms, "A", "DEL k", "1")
	late.Note, late.Replied = "command held, then let go", 40*ms
	dropped := x(10*ms, "A", "SET k aa… NX PX 3000", "")
	dropped.Note, dropped.Replied = "reply dropped", 0
	long := dropped
	long.Command = "SET k aaaa… NX PX 3000"
	never := dropped
	never.Note = "command dropped"
	other := x(30*ms, "B", "SET k bb… NX PX 3000", "OK")
	take := x(10*ms, "A", "SET k aa… NX PX 3000", "OK")
	for name, test := range map[string]struct {
		exchanges []histories.Exchange
		ops       []histories.Op
		audits    []histories.Event
		want      []string
	}{
		"released": {
			[]histories.Exchange{take, x(20*ms, "A", "DEL k", "1")}, nil, nil,
			[]string{"A 10ms-20ms deleted by A"},
		},
		"deleted by another": {
			[]histories.Exchange{take, x(20*ms, "B", "DEL k", "1")}, nil, nil,
			[]string{"A 10ms-20ms deleted by B"},
		},
		"a command that was held takes effect at its end": {
			[]histories.Exchange{late, other}, nil, nil,
			[]string{"B 30ms-40ms deleted by A"},
		},
		"its time to live ends": {
			[]histories.Exchange{take, x(4000*ms, "B", "SET k bb… NX PX 3000", "OK")}, nil, nil,
			[]string{"A 10ms-3.01s its time to live ended", "B 4s-0s"},
		},
		"refused": {
			[]histories.Exchange{take, x(20*ms, "B", "SET k bb… NX PX 3000", "nil")}, nil, nil,
			[]string{"A 10ms-0s"},
		},
		"gone, and nobody knows why": {
			[]histories.Exchange{take, other}, nil, nil,
			[]string{"A 10ms-30ms? gone, nobody knows since when", "B 30ms-0s"},
		},
		"gone since a fault, which may be why": {
			[]histories.Exchange{take, other}, []histories.Op{op(15*ms, 50*ms, -1, "clock", histories.OK, "master")}, nil,
			[]string{"A 10ms-15ms? gone since clock, as far as can be seen", "B 30ms-0s"},
		},
		"a fault of another server is not why": {
			[]histories.Exchange{take, other}, []histories.Op{op(15*ms, 50*ms, -1, "clock", histories.OK, "n2")}, nil,
			[]string{"A 10ms-30ms? gone, nobody knows since when", "B 30ms-0s"},
		},
		"killed": {
			[]histories.Exchange{take}, []histories.Op{op(15*ms, 15*ms, -1, "kill", histories.OK, "master")}, nil,
			[]string{"A 10ms-15ms the server died"},
		},
		"a kill that failed": {
			[]histories.Exchange{take}, []histories.Op{op(15*ms, 15*ms, -1, "kill", histories.Fail, "master")}, nil,
			[]string{"A 10ms-0s"},
		},
		"nobody saw the reply":        {[]histories.Exchange{dropped}, nil, nil, []string{"A 10ms-0s?"}},
		"the command never arrived":   {[]histories.Exchange{never}, nil, nil, nil},
		"an error does nothing":       {[]histories.Exchange{x(10*ms, "A", "SET k aa… NX", `"OOM command not allowed"`)}, nil, nil, nil},
		"a key that nobody asked for": {[]histories.Exchange{x(10*ms, "A", "SET other aa… NX", "OK")}, nil, nil, nil},
		"prolonged": {
			[]histories.Exchange{take, x(2000*ms, "A", "EVALSHA 3a32… k aa… 3000", "1"), x(9000*ms, "B", "GET k", "nil")}, nil, nil,
			[]string{"A 10ms-5s its time to live ended"},
		},
		"prolonged by somebody whose it is not": {
			[]histories.Exchange{take, x(2000*ms, "B", "EVALSHA 3a32… k bb… 3000", "1"), x(9000*ms, "B", "GET k", "nil")}, nil, nil,
			[]string{"A 10ms-3.01s its time to live ended"},
		},
		"a transaction": {
			[]histories.Exchange{take, x(20*ms, "A", "MULTI", "OK"), x(21*ms, "A", "DEL k", "QUEUED"), x(22*ms, "A", "EXEC", "[1]")}, nil, nil,
			[]string{"A 10ms-22ms deleted by A"},
		},
		"a transaction that was given up": {
			[]histories.Exchange{take, x(20*ms, "A", "MULTI", "OK"), x(21*ms, "A", "DEL k", "QUEUED"), x(22*ms, "A", "EXEC", "nil")}, nil, nil,
			[]string{"A 10ms-0s"},
		},
		"a script took it, as the call says": {
			[]histories.Exchange{x(10*ms, "A", "EVALSHA 4cee… k {k}:fence aa… 3000", "7"), x(20*ms, "A", "EVALSHA c89c… k aa…", "1")},
			[]histories.Op{op(10*ms, 12*ms, 0, histories.Acquire, histories.OK, ""), op(20*ms, 22*ms, 0, histories.Release, histories.OK, "")}, nil,
			[]string{"A 10ms-20ms released by A"},
		},
		"a script refused it, as the call says": {
			[]histories.Exchange{x(10*ms, "A", "EVALSHA 4cee… k {k}:fence aa… 3000", "7")},
			[]histories.Op{op(10*ms, 12*ms, 0, histories.Acquire, histories.Fail, "")}, nil,
			nil,
		},
		"an acquire that cleans up behind itself": {
			[]histories.Exchange{take, x(14*ms, "A", "EVALSHA c89c… k aa…", "1"), other},
			[]histories.Op{op(10*ms, 16*ms, 0, histories.Acquire, histories.Fail, "")}, nil,
			[]string{"A 10ms-14ms released by A", "B 30ms-0s"},
		},
		"a release that says nothing": {
			[]histories.Exchange{x(10*ms, "A", "EVALSHA 48be… k 946684800062", "1"), x(20*ms, "A", "EVALSHA 4341… k 946684800062", "nil")},
			[]histories.Op{op(10*ms, 12*ms, 0, histories.Acquire, histories.OK, ""), op(20*ms, 22*ms, 0, histories.Release, histories.OK, "")}, nil,
			[]string{"A 10ms-20ms? released by A"},
		},
		"an audit found what nobody had been told": {
			[]histories.Exchange{long}, nil, []histories.Event{{Time: 20 * ms, Node: "master", Key: "k", Value: "aaaa1111", TTL: 100 * ms}},
			[]string{"A 10ms-0s"},
		},
		"an audit found another's": {
			[]histories.Exchange{long}, nil, []histories.Event{{Time: 20 * ms, Node: "master", Key: "k", Value: "bbbb1111", TTL: 100 * ms}},
			[]string{"A 10ms-0s?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, h := range follow(test.exchanges, test.ops, test.audits, map[string]bool{"k": true}, language.Language{}) {
				doubt := ""
				if h.unsure {
					doubt = "?"
				}
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %v-%v%s %s", h.owner, h.from, h.to, doubt, h.end)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is hatched is where both believe, and the update that was lost is marked as such.
func TestViolation(t *testing.T) {
	r := recorded(t)["failover"]
	s := newScene(r, mostEvents)
	if len(s.wrongs) != 2 {
		t.Fatalf("%d violations are drawn, want 2: those with the same witness are one", len(s.wrongs))
	}
	both, lost := s.wrongs[0], s.wrongs[1]
	if both.from != r.Events[10].Time || both.to != r.Events[17].Time {
		t.Errorf("hatched from %v to %v, want from B's grant at %v to A's release at %v", both.from, both.to, r.Events[10].Time, r.Events[17].Time)
	}
	if !both.lanes["A"] || !both.lanes["B"] || both.lanes["C"] {
		t.Errorf("hatched over %v, want A and B", both.lanes)
	}
	if lost.lost != 14 {
		t.Errorf("event %d is marked as the lost update, want 14", lost.lost)
	}
	text := drawFigure(t, r)
	for _, want := range []string{
		"✗ mutual exclusion, lease exclusion", "A held orders/42 from", "Also violated: resource safety.",
		"write 1, v0→1 · lost", "the server died", "knows nothing of orders/42", `class="break"`, "2.98 s", "lease until 3.002",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
	if n := strings.Count(text, " proof\""); n < 4 {
		t.Errorf("%d marks are highlighted, want at least the two acquires and the two beliefs", n)
	}
}
