package player

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// shelf is a server of which only what it holds is known.
type shelf struct {
	cluster.Cluster
	states  []cluster.KeyState
	dead    bool
	scripts []string // the digests that it knows
}

func (s *shelf) Inspect(context.Context, string, int, ...string) ([]cluster.KeyState, error) {
	if s.dead {
		return nil, errors.New("no such server")
	}
	return slices.Clone(s.states), nil
}

func (s *shelf) Do(_ context.Context, _ string, args ...string) (wire.Reply, error) {
	known := "0"
	if slices.Contains(s.scripts, args[2]) {
		known = "1"
	}
	return wire.ReadReply(bufio.NewReader(strings.NewReader("*1\r\n:" + known + "\r\n")))
}

func held(value string) cluster.KeyState {
	return cluster.KeyState{Key: "k", Exists: true, Type: "string", Value: value}
}

func free() cluster.KeyState { return cluster.KeyState{Key: "k"} }

// TestTaken checks which change on the server says that a lock was taken.
func TestTaken(t *testing.T) {
	hash := func(fields ...cluster.Field) cluster.KeyState {
		return cluster.KeyState{Key: "k", Exists: true, Type: "hash", Fields: fields}
	}
	renewed := held("a")
	renewed.TTL = 7
	for name, tc := range map[string]struct {
		before, after cluster.KeyState
		dead          bool
		want          bool
	}{
		"it was free":          {free(), held("a"), false, true},
		"it is free":           {free(), free(), false, false},
		"it was freed":         {held("a"), free(), false, false},
		"nothing changed":      {held("a"), held("a"), false, false},
		"its lease is renewed": {held("a"), renewed, false, false},
		"another has it":       {held("a"), held("b"), false, true},
		"one more has it":      {hash(cluster.Field{Name: "a", Value: "1"}), hash(cluster.Field{Name: "a", Value: "1"}, cluster.Field{Name: "b", Value: "1"}), false, true},
		"it is entered again":  {hash(cluster.Field{Name: "a", Value: "1"}), hash(cluster.Field{Name: "a", Value: "2"}), false, true},
		"nobody can look":      {free(), held("a"), true, false},
	} {
		s := &shelf{states: []cluster.KeyState{tc.before}}
		d := deciding{s, "master", cluster.Place{Names: []string{"k"}}}
		had := d.taken().Effect(wire.Command{Name: "SET", Args: []string{"k", "a"}})
		s.states, s.dead = []cluster.KeyState{tc.after}, tc.dead
		if got := had(); got != tc.want {
			t.Errorf("%s: taken is %v, want %v", name, got, tc.want)
		}
	}
}

// TestWould checks which commands would change what a server holds of the lock, and which of
// these would take it.
func TestWould(t *testing.T) {
	for _, tc := range []struct {
		command               []string
		free, held            bool // it would write a lock that is free, and one that is held
		takesFree, looksAtAll bool
	}{
		{[]string{"GET", "k"}, false, false, false, true},
		{[]string{"PTTL", "k"}, false, false, false, false},
		{[]string{"SET", "k", "v"}, true, true, true, false},
		{[]string{"SET", "k", "v", "NX", "PX", "5"}, true, false, true, false},
		{[]string{"SET", "k", "v", "px", "5", "nx"}, true, false, true, false},
		{[]string{"SET", "k", "v", "XX"}, false, true, false, false},
		{[]string{"SET", "k", "NX"}, true, true, true, false}, // a value, and no option
		{[]string{"SETNX", "k", "v"}, true, false, true, false},
		{[]string{"DEL", "k"}, false, true, false, true},
		{[]string{"GETDEL", "k"}, false, true, false, true},
		{[]string{"PEXPIRE", "k", "5"}, false, true, false, false},
		{[]string{"HGET", "k", "f"}, false, false, false, true},
		{[]string{"HPTTL", "k", "FIELDS", "1", "f"}, false, false, false, false},
		{[]string{"HSETEX", "k", "FNX", "PX", "5", "FIELDS", "1", "f", "v"}, true, false, true, false},
		{[]string{"HSETEX", "k", "px", "5", "fxx", "fields", "1", "f", "v"}, false, true, false, false},
		{[]string{"HSETEX", "k", "FIELDS", "1", "FNX", "v"}, true, true, true, false}, // a field, and no option
		{[]string{"HDEL", "k", "f"}, false, true, false, true},
		{[]string{"HPEXPIRE", "k", "5", "FIELDS", "1", "f"}, false, true, false, false},
		{[]string{"HINCRBY", "k", "f", "1"}, true, true, true, false},
		{[]string{"EVAL", "return 1", "1", "k"}, true, true, true, true},
		{[]string{"EVALSHA", "known", "1", "k"}, true, true, true, true},
		{[]string{"EVALSHA", "unknown", "1", "k"}, false, false, false, false},
	} {
		c := wire.Command{Name: tc.command[0], Args: tc.command[1:]}
		s := &shelf{states: []cluster.KeyState{free()}, scripts: []string{"known"}}
		d := deciding{s, "master", cluster.Place{Names: []string{"k"}}}
		matches := func(m wire.Match) bool {
			return (len(m.Names) == 0 || slices.Contains(m.Names, c.Name)) && (m.Before == nil || m.Before(c))
		}
		if got := matches(d.writes()); got != tc.free {
			t.Errorf("%v would write a free lock: %v, want %v", tc.command, got, tc.free)
		}
		if got := matches(d.takes()); got != tc.takesFree {
			t.Errorf("%v would take a free lock: %v, want %v", tc.command, got, tc.takesFree)
		}
		if got := matches(d.looks()); got != tc.looksAtAll {
			t.Errorf("%v looks whose the lock is: %v, want %v", tc.command, got, tc.looksAtAll)
		}
		s.states = []cluster.KeyState{held("v")}
		if got := matches(d.writes()); got != tc.held {
			t.Errorf("%v would write a lock that is held: %v, want %v", tc.command, got, tc.held)
		}
	}
}
