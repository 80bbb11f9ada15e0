package causes

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
	"github.com/lockbench/lockbench/internal/story"
)

// scene is a run, indexed.
type scene struct {
	Run
	ops     []histories.Op
	faults  []histories.Op
	holds   map[uint64]*histories.Hold
	effects []effect
	of      map[int][]*effect // by exchange
	calls   map[int]call      // by exchange
	places  map[place][]*effect
	clients map[string]calling
	alone   map[string]time.Duration // when a client first sent a command while no call of its was under way; see spoken
}

// place is where a server keeps a lock.
type place struct {
	node string
	histories.Place
}

// effect is what a command did to a key of the lock.
type effect struct {
	effects.Effect
	at   place
	call call
	n    int // its place among those of its key, in the order in which they were executed
}

// call is the call of a client that sent a command.
type call struct {
	op *histories.Op // nil: no call was under way, such as of a renewal
	// hold is that of the call's attempt or, of a command that no call sent, the client's
	// latest on the key. Nil: it is not known, or the attempt was refused.
	hold    *histories.Hold
	attempt uint64 // 0: not known
	// beside is a release that was under way when a command was sent that made or wrote the key,
	// as a release has no need to: whether it was the release's cannot be told. Op is nil then.
	beside *histories.Op
}

func newScene(run Run) *scene {
	s := &scene{Run: run, holds: map[uint64]*histories.Hold{}, of: map[int][]*effect{}, calls: map[int]call{}, places: map[place][]*effect{}}
	all, _ := histories.Pair(run.Events) // a history that does not pair is explained as far as it does
	for _, o := range all {
		if o.Fault() {
			s.faults = append(s.faults, o)
		} else {
			s.ops = append(s.ops, o)
		}
	}
	for _, h := range histories.Holds(run.Events) {
		s.holds[h.Attempt] = &h
	}
	s.clients = s.calling()
	s.alone = s.background()
	raw := effects.Of(run.Exchanges, 0)
	lockOf := s.names(raw)
	for _, e := range raw {
		key, ok := lockOf[e.Key]
		if !ok || e.Node == story.Register {
			continue
		}
		at := place{e.Node, e.Place}
		s.effects = append(s.effects, effect{Effect: e, at: at, call: s.caller(e, key)})
	}
	for i := range s.effects {
		e := &s.effects[i]
		e.n = len(s.places[e.at])
		s.places[e.at] = append(s.places[e.at], e)
		s.of[e.Exchange] = append(s.of[e.Exchange], e)
		s.calls[e.Exchange] = e.call
	}
	return s
}

// names returns the lock's key of each key of the servers that a lock is kept under.
func (s *scene) names(raw []effects.Effect) map[string]string {
	lockOf := map[string]string{}
	var keys []string
	for _, o := range s.ops {
		if key := o.Invoke.Key; key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if s.Names != nil {
		for _, key := range keys {
			for _, name := range s.Names(key) {
				lockOf[name] = key
			}
		}
		return lockOf
	}
	for _, e := range raw { // a lock's key is one that a granted acquire made, and that ends
		if e.Node == story.Register || e.Kind != effects.Takes || lockOf[e.Key] != "" {
			continue
		}
		for i := range s.ops {
			o := &s.ops[i]
			mine := o.Invoke.F == histories.Acquire && o.Outcome() == histories.OK && s.sent(o, s.Exchanges[e.Exchange])
			if mine && (e.TTL > 0 || e.Key == o.Invoke.Key || ends(raw, e)) {
				lockOf[e.Key] = o.Invoke.Key
			}
		}
	}
	return lockOf
}

// ends reports whether some command removes the key of an effect, or gives it a time to live.
func ends(raw []effects.Effect, of effects.Effect) bool {
	return slices.ContainsFunc(raw, func(e effects.Effect) bool {
		return e.Node == of.Node && e.Place == of.Place && (e.Kind == effects.Frees || e.TTL > 0)
	})
}

// sent reports whether a call was under way when its client sent a command.
func (s *scene) sent(o *histories.Op, x histories.Exchange) bool {
	return histories.WorkerName(o.Invoke.Worker) == x.Client && under(o, x.Sent)
}

func under(o *histories.Op, at time.Duration) bool {
	return o.Invoke.Time <= at && (!o.Done || at <= o.Complete.Time)
}

// asks reports whether f is a call that a lock sends commands for.
func asks(f histories.F) bool {
	return f == histories.Acquire || f == histories.Release || f == histories.Extend || f == histories.Verify
}

// caller finds whose command an effect is of.
func (s *scene) caller(e effects.Effect, key string) call {
	x := s.Exchanges[e.Exchange]
	calls := s.clients[x.Client]
	var first *histories.Op
	n := 0
	for o := range calls.underWay(x.Sent) {
		if o.Invoke.Key == key {
			first, n = o, n+1
		}
	}
	switch threads := x.Client == histories.WorkerName(0) && s.Threads > 0; {
	case n == 1 && threads:
		return s.callOf(first)
	case n > 0 && threads:
		return call{}
	case n > 0:
		return s.during(first, e)
	}
	for _, o := range slices.Backward(calls.ops[:calls.begun(x.Sent)]) {
		if o.Invoke.F == histories.Acquire && o.Invoke.Key == key && o.Outcome() != histories.Fail && !s.thread(o.Invoke.Worker) {
			return call{hold: s.holds[o.Invoke.Attempt], attempt: o.Invoke.Attempt}
		}
	}
	return call{}
}

// during is whose a command is that a client sent while its call o was under way. A lock may send
// commands in the background all the time. What a release has no need to send is not said to be
// its own, and what was sent in the background before, word for word, is background's.
func (s *scene) during(o *histories.Op, e effects.Effect) call {
	x := s.Exchanges[e.Exchange]
	c := s.callOf(o)
	if o.Invoke.F != histories.Release {
		return c
	}
	if first, ok := s.alone[spoken(x)]; ok && first < o.Invoke.Time {
		c.op = nil
	} else if e.Kind == effects.Takes || e.Kind == effects.Overwrites {
		c.op, c.beside = nil, o
	}
	return c
}

// spoken is a client and the words of a command that it sent; empty if they were not kept.
func spoken(x histories.Exchange) string {
	if len(x.Words) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s %q", x.Client, x.Node, x.Words)
}

// background is when each command was first sent that its client sent while none of its calls was under way.
func (s *scene) background() map[string]time.Duration {
	alone := map[string]time.Duration{}
	for _, x := range s.Exchanges {
		said := spoken(x)
		if _, known := alone[said]; known || said == "" || x.Node == story.Register {
			continue
		}
		speaking := false
		for range s.clients[x.Client].underWay(x.Sent) {
			speaking = true
			break
		}
		if !speaking {
			alone[said] = x.Sent
		}
	}
	return alone
}

func (s *scene) callOf(o *histories.Op) call {
	return call{op: o, hold: s.holds[o.Invoke.Attempt], attempt: o.Invoke.Attempt}
}

// thread reports whether a worker is a thread of the first one's process, as which its commands are
// recorded.
func (s *scene) thread(worker int) bool { return 0 < worker && worker < s.Threads }

// is reports whether a call is one of f.
func (c call) is(f histories.F) bool { return c.op != nil && c.op.Invoke.F == f }

// owner is the call that had made the key that e met; ok is false if that is not known.
func (s *scene) owner(e *effect) (call, bool) {
	if made := s.madeBy(e); made != nil {
		return made.call, made.call.attempt != 0
	}
	return call{}, false
}

// madeBy is the effect that made the key that e met. Nil: that is not known, also because a fault
// of the server came between.
func (s *scene) madeBy(e *effect) *effect {
	if e.Of < 0 {
		return nil
	}
	for _, m := range s.of[e.Of] {
		if m.at == e.at && !s.shaken(m, e) {
			return m
		}
	}
	return nil
}

// op returns the call of an event.
func (s *scene) op(event int) *histories.Op {
	for i := range s.ops {
		o := &s.ops[i]
		if o.Invoke.Index == event || o.Done && o.Complete.Index == event {
			return o
		}
	}
	return nil
}

// acquire returns the call that an attempt began with.
func (s *scene) acquire(attempt uint64) *histories.Op {
	for i := range s.ops {
		if o := &s.ops[i]; o.Invoke.F == histories.Acquire && o.Invoke.Attempt == attempt {
			return o
		}
	}
	return nil
}

// effectsOf are those of a call's commands.
func (s *scene) effectsOf(o *histories.Op) []*effect {
	var all []*effect
	for i := range s.effects {
		if e := &s.effects[i]; e.call.op == o {
			all = append(all, e)
		}
	}
	return all
}

// exchangesOf are the indexes of the commands that a call sent to the lock's servers.
func (s *scene) exchangesOf(o *histories.Op) []int {
	var all []int
	for i, x := range s.Exchanges {
		if x.Node != story.Register && !story.Setup(x) && s.sent(o, x) {
			all = append(all, i)
		}
	}
	return all
}

// sameHolder reports whether two attempts are one holder's: one that re-enters.
func (s *scene) sameHolder(a, b uint64) bool {
	if a == b {
		return true
	}
	ha, hb := s.holds[a], s.holds[b]
	return ha != nil && hb != nil && ha.Mode == histories.Reentrant && ha.Shares(*hb)
}

// drift is by how much clocks of servers may be wrong about a time to live.
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }
