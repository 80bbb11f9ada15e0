package causes_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/histories"
)

// state is what a server has under a key.
type state struct {
	there bool
	value string // of a string
	ttl   time.Duration
	by    int // exchange at which it came to be there
}

// step is what one executed command did to one key.
type step struct{ before, after state }

// replay executes the recorded commands of a run once more, on servers of its own, and notes what
// each of them really did to keys. It knows nothing of effects.
type replay struct {
	t       *testing.T
	x       []histories.Exchange
	servers map[string]*server
	steps   map[int]map[string]step // by exchange, then by key
	end     map[string]state        // by node and key, when all is done
	differs map[int]bool            // commands that were answered otherwise: a lease ended a moment sooner or later
}

type server struct {
	*miniredis.Miniredis
	at     time.Duration
	conns  map[string]*redis.Conn
	close  []func() error
	births map[string]int
	loaded int // exchanges whose scripts it knows
}

// epoch is when virtual time begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func newReplay(t *testing.T, x []histories.Exchange) *replay {
	r := &replay{t: t, x: x, servers: map[string]*server{}, steps: map[int]map[string]step{}, end: map[string]state{}, differs: map[int]bool{}}
	var order []int
	for i, e := range x {
		if e.Node != "register" && len(e.Words) > 0 && e.Note != "command dropped" && e.Note != "command held" {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(executed(x[a]), executed(x[b])) })
	for _, i := range order {
		r.play(i)
	}
	for node, s := range r.servers {
		for _, key := range s.Keys() {
			r.end[node+" "+key] = s.state(key, map[string]int{})
		}
		for _, closed := range s.close {
			_ = closed()
		}
		s.Close()
	}
	return r
}

// executed is about when a command was executed: when it reached its server.
func executed(x histories.Exchange) time.Duration { return max(x.Sent, x.Forwarded) }

func (r *replay) server(node string) *server {
	s := r.servers[node]
	if s == nil {
		s = &server{Miniredis: miniredis.NewMiniRedis(), conns: map[string]*redis.Conn{}}
		if err := s.Start(); err != nil {
			r.t.Fatal(err)
		}
		r.servers[node] = s
	}
	return s
}

func (s *server) conn(x histories.Exchange) *redis.Conn {
	name := x.Client + " " + string(rune(x.Conn))
	if s.conns[name] == nil {
		c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, DisableIdentity: true, MaxRetries: -1})
		s.conns[name] = c.Conn()
		s.close = append(s.close, s.conns[name].Close, c.Close)
	}
	return s.conns[name]
}

func (s *server) state(key string, born map[string]int) state {
	if !s.Exists(key) {
		return state{}
	}
	value, _ := s.Get(key)
	return state{there: true, value: value, ttl: s.TTL(key), by: born[key]}
}

// play executes one command, and notes what it did to every key that it or its transaction names.
func (r *replay) play(i int) {
	x := r.x[i]
	s := r.server(x.Node)
	for ; s.loaded <= i; s.loaded++ { // scripts that were loaded before
		if e := r.x[s.loaded]; e.Script != "" && e.Node == x.Node {
			_ = s.conn(x).ScriptLoad(context.Background(), e.Script).Err()
		}
	}
	if at := executed(x); at > s.at {
		s.FastForward(at - s.at)
		s.at = at
	}
	s.SetTime(epoch.Add(s.at))
	words := slices.Clone(x.Words)
	if strings.EqualFold(words[0], "EVAL") {
		words[0] = "EVALSHA"
	}
	if strings.EqualFold(words[0], "SCRIPT") || strings.EqualFold(words[0], "SUBSCRIBE") || strings.EqualFold(words[0], "WAIT") {
		return
	}
	keys := map[string]bool{}
	for _, k := range s.Keys() {
		keys[k] = true
	}
	born := r.born(x.Node)
	before := map[string]state{}
	for k := range keys {
		before[k] = s.state(k, born)
	}
	times := 1
	if x.First != "" {
		times = 2
	}
	args := make([]any, len(words))
	for n, w := range words {
		args[n] = w
	}
	for range times {
		got, err := s.conn(x).Do(context.Background(), args...).Result()
		n, isNumber := got.(int64)
		_, recorded := strconv.ParseInt(x.Reply, 10, 64)
		switch {
		case recorded == nil && isNumber && strconv.FormatInt(n, 10) != x.Reply && x.First == "", x.Reply == "OK" && err != nil:
			r.differs[i] = true
		}
	}
	for _, k := range s.Keys() {
		keys[k] = true
	}
	done := map[string]step{}
	for k := range keys {
		st := step{before: before[k], after: s.state(k, born)}
		if st.after.there && !st.before.there {
			st.after.by = i
			born[k] = i
		}
		done[k] = st
	}
	r.steps[i] = done
}

// born is at which exchange each key of a node came to be there last.
func (r *replay) born(node string) map[string]int {
	s := r.servers[node]
	if s.births == nil {
		s.births = map[string]int{}
	}
	return s.births
}

// did is what a command did to a key: of a queued one, what its transaction did.
func (r *replay) did(i int, key string) step {
	x := r.x[i]
	if x.Reply == "QUEUED" {
		for n := i + 1; n < len(r.x); n++ {
			if e := r.x[n]; e.Client == x.Client && e.Node == x.Node && e.Conn == x.Conn && e.Command == "EXEC" {
				return r.steps[n][key]
			}
		}
	}
	return r.steps[i][key]
}
