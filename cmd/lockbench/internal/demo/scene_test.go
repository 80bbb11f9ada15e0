package demo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/nemesis"
)

const ms = time.Millisecond

// TestNews checks what a step shows of commands: what is new, what was held up and has gone
// on, and what says the same together.
func TestNews(t *testing.T) {
	x := func(node string, seq int, command, reply, note string) histories.Exchange {
		e := histories.Exchange{Client: "A", Node: node, Conn: 1, Seq: seq, Sent: time.Duration(seq) * ms, Command: command, Reply: reply, Note: note}
		if reply != "" {
			e.Replied = e.Sent + ms
		}
		return e
	}
	other := func(node string, seq int, command, reply string) histories.Exchange {
		e := x(node, seq, command, reply, "")
		e.Client = "B"
		return e
	}
	held := x("n1", 1, "DEL k", "", "command held")
	went := x("n1", 1, "DEL k", "1", "command held, then let go")
	type line struct {
		Nodes, Command, Script, Reply string
		State                         story.Fate
		Times                         int
	}
	for name, tc := range map[string]struct {
		before, after []histories.Exchange
		want          []line
	}{
		"nothing new":    {[]histories.Exchange{went}, []histories.Exchange{went}, nil},
		"held":           {nil, []histories.Exchange{held}, []line{{"n1", "DEL k", "", "", story.Held, 1}}},
		"goes on":        {[]histories.Exchange{held}, []histories.Exchange{went}, []line{{"n1", "DEL k", "", "1", story.LetGo, 1}}},
		"reply held":     {nil, []histories.Exchange{x("n1", 1, "SETNX k a", "", "reply held")}, []line{{"n1", "SETNX k a", "", "", story.ReplyHeld, 1}}},
		"reply lost":     {nil, []histories.Exchange{x("n1", 1, "SETNX k a", "", "reply dropped")}, []line{{"n1", "SETNX k a", "", "", story.Lost, 1}}},
		"on its way":     {nil, []histories.Exchange{x("n1", 1, "SETNX k a", "", "")}, []line{{"n1", "SETNX k a", "", "", story.Waiting, 1}}},
		"set-up":         {nil, []histories.Exchange{x("n1", 1, "HELLO 3", "ok", "")}, nil},
		"unknown script": {nil, []histories.Exchange{x("n1", 1, "EVALSHA ffff… k", "1", "")}, []line{{"n1", "EVALSHA ffff… k", "", "1", story.Answered, 1}}},
		"known script": {nil, []histories.Exchange{x("n1", 1, "EVALSHA c89c… k a", "1", "")},
			[]line{{"n1", "EVALSHA ‹compare-and-delete› k a", "compare-and-delete", "1", story.Answered, 1}}},
		"many nodes": {nil, []histories.Exchange{x("n1", 1, "SET k a", "OK", ""), x("n2", 2, "SET k a", "OK", ""), x("n3", 3, "SET k a", "nil", "")},
			[]line{{"n1 n2", "SET k a", "", "OK", story.Answered, 1}, {"n3", "SET k a", "", "nil", story.Answered, 1}}},
		"renewed beside": {nil, []histories.Exchange{x("n1", 1, "PEXPIRE k", "1", ""), other("n1", 2, "SET k a", "nil"), x("n1", 3, "PEXPIRE k", "1", ""), other("n1", 4, "SET k b", "nil")},
			[]line{{"n1", "PEXPIRE k", "", "1", story.Answered, 2}, {"n1", "SET k a", "", "nil", story.Answered, 2}}},
		"many times": {nil, []histories.Exchange{x("n1", 1, "SET k a", "nil", ""), x("n1", 2, "SET k b", "nil", ""), x("n1", 3, "SET k c", "OK", "")},
			[]line{{"n1", "SET k a", "", "nil", story.Answered, 2}, {"n1", "SET k c", "", "OK", story.Answered, 1}}},
	} {
		var got []line
		for _, s := range news(tc.before, tc.after) {
			got = append(got, line{together(s.nodes), s.command, s.script, s.reply, s.state, s.times})
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAccesses checks what is told of the register: a client knows what it read and what it
// wrote itself.
func TestAccesses(t *testing.T) {
	ev := func(kind histories.Type, f histories.F, version int64, err string) histories.Event {
		return histories.Event{Type: kind, F: f, Attempt: 1, Value: "7", Version: version, Err: err}
	}
	read, write := ev(histories.OK, histories.Read, 3, ""), ev(histories.OK, histories.Write, 3, "")
	elsewhere := ev(histories.OK, histories.Write, 4, "")
	elsewhere.Attempt = 2
	late := ev(histories.Fail, histories.Write, 0, "no")
	late.Token, elsewhere.Token = 1, 2
	drew, again, late2 := ev(histories.OK, histories.Draw, 0, ""), ev(histories.OK, histories.Draw, 1, ""), ev(histories.Fail, histories.Draw, 0, "done")
	again.Attempt, again.Worker = 2, 1
	for name, tc := range map[string]struct {
		events []histories.Event
		want   access
	}{
		"reads":                {[]histories.Event{read}, access{client: "A", value: "7", version: 3}},
		"writes":               {[]histories.Event{read, write}, access{client: "A", write: true, value: "7", version: 3, again: true, seen: 3}},
		"overwrites":           {[]histories.Event{read, ev(histories.OK, histories.Write, 4, "")}, access{client: "A", write: true, value: "7", version: 4, again: true, seen: 3}},
		"writes again":         {[]histories.Event{read, write, ev(histories.OK, histories.Write, 4, "")}, access{client: "A", write: true, value: "7", version: 4, again: true, seen: 4}},
		"others' do not count": {[]histories.Event{read, elsewhere, ev(histories.OK, histories.Read, 5, "")}, access{client: "A", value: "7", version: 5, again: true, seen: 3}},
		"stale":                {[]histories.Event{elsewhere, late}, access{client: "A", write: true, value: "7", refused: "no", stale: true}},
		"no higher token":      {[]histories.Event{late}, access{client: "A", write: true, value: "7", refused: "no"}},
		"draws":                {[]histories.Event{drew}, access{client: "A", write: true, draw: true, value: "7"}},
		"draws again":          {[]histories.Event{drew, again}, access{client: "B", write: true, draw: true, drawn: "A", value: "7", version: 1}},
		"finds it drawn":       {[]histories.Event{drew, late2}, access{client: "A", write: true, draw: true, drawn: "A", done: true, value: "7", refused: "done"}},
		"refused":              {[]histories.Event{ev(histories.Fail, histories.Read, 0, "no")}, access{client: "A", value: "7", refused: "no"}},
	} {
		got := accesses(tc.events, len(tc.events)-1, true, true)
		if len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestBeliefs checks what a client believes, event by event.
func TestBeliefs(t *testing.T) {
	ev := func(kind histories.Type, f histories.F) histories.Event { return histories.Event{Type: kind, F: f} }
	granted := ev(histories.OK, histories.Acquire)
	granted.Deadline = 3000 * ms
	asReader := ev(histories.Invoke, histories.Acquire)
	asReader.Value = string(histories.Shared)
	longer := ev(histories.OK, histories.Extend)
	longer.Deadline = 9000 * ms
	pause := histories.Event{Process: histories.Nemesis, Worker: histories.Nemesis, F: nemesis.PauseF, Node: "A", Type: histories.Invoke}
	goOn := pause
	goOn.Type = histories.OK
	for name, tc := range map[string]struct {
		events []histories.Event
		now    time.Duration
		want   belief
		renews bool
	}{
		"asks":      {[]histories.Event{ev(histories.Invoke, histories.Acquire)}, 0, belief{opinion: asks}, false},
		"holds":     {[]histories.Event{granted}, 2999 * ms, belief{opinion: holds, depth: 1, until: 3000 * ms}, false},
		"overdue":   {[]histories.Event{granted}, 3000 * ms, belief{opinion: holds, depth: 1, until: 3000 * ms, over: true}, false},
		"reads":     {[]histories.Event{asReader, granted}, 0, belief{opinion: holds, depth: 1, shared: true, until: 3000 * ms}, false},
		"extended":  {[]histories.Event{granted, longer}, 4000 * ms, belief{opinion: holds, depth: 1, until: 9000 * ms}, false},
		"refused":   {[]histories.Event{ev(histories.Fail, histories.Acquire)}, 0, belief{opinion: refused}, false},
		"unsure":    {[]histories.Event{ev(histories.Info, histories.Acquire)}, 0, belief{opinion: unsure}, false},
		"returns":   {[]histories.Event{granted, ev(histories.Invoke, histories.Release)}, 9000 * ms, belief{opinion: returns}, false},
		"returned":  {[]histories.Event{granted, ev(histories.Invoke, histories.Release), ev(histories.OK, histories.Release)}, 0, belief{opinion: returned}, false},
		"robbed":    {[]histories.Event{granted, ev(histories.Fail, histories.Release)}, 0, belief{opinion: robbed}, false},
		"doubts":    {[]histories.Event{granted, ev(histories.Info, histories.Release)}, 0, belief{opinion: doubts}, false},
		"lost":      {[]histories.Event{granted, ev(histories.Info, histories.Lost)}, 0, belief{opinion: robbed}, false},
		"dead":      {[]histories.Event{granted, ev(histories.Info, histories.Crash)}, 0, belief{opinion: dead}, false},
		"paused":    {[]histories.Event{granted, pause}, 0, belief{opinion: holds, depth: 1, until: 3000 * ms, still: true}, false},
		"goes on":   {[]histories.Event{granted, pause, goOn}, 0, belief{opinion: holds, depth: 1, until: 3000 * ms}, false},
		"renewed":   {[]histories.Event{granted}, 9000 * ms, belief{opinion: holds, depth: 1, until: 3000 * ms, renews: true}, true},
		"enters":    {[]histories.Event{granted, granted}, 0, belief{opinion: holds, depth: 2, until: 3000 * ms}, false},
		"goes out":  {[]histories.Event{granted, granted, ev(histories.Invoke, histories.Release), ev(histories.OK, histories.Release)}, 0, belief{opinion: holds, depth: 1, until: 3000 * ms}, false},
		"not again": {[]histories.Event{granted, ev(histories.Invoke, histories.Acquire), ev(histories.Fail, histories.Acquire)}, 0, belief{opinion: holds, depth: 1, until: 3000 * ms}, false},
		"hangs":     {[]histories.Event{granted, ev(histories.Info, histories.Abandon)}, 0, belief{opinion: gone}, false},
		"only read": {[]histories.Event{granted, ev(histories.OK, histories.Read)}, 0, belief{opinion: holds, depth: 1, until: 3000 * ms}, false},
	} {
		tc.want.client = "A"
		got := beliefs(tc.events, tc.now, tc.renews)
		if len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestTogether(t *testing.T) {
	for want, nodes := range map[string][]string{
		"":                 nil,
		"master":           {"master"},
		"n1 n2":            {"n2", "n1"},
		"n1–n3":            {"n1", "n2", "n3"},
		"n2–n5 replica":    {"n2", "n3", "n4", "n5", "replica"},
		"n1 n3 n5":         {"n1", "n3", "n5"},
		"n1 n2 n4 replica": {"n1", "n2", "n4", "replica"},
	} {
		if got := together(nodes); got != want {
			t.Errorf("%v: got %q, want %q", nodes, got, want)
		}
	}
}
