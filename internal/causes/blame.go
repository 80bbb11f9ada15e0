package causes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
	"github.com/lockbench/lockbench/internal/words"
)

// refusals explains that a lock which nobody held could not be had: by the key that was in the
// way at the last refusal of the witness, or that was found in the end.
func (s *scene) refusals(res checker.Result) *checker.Cause {
	calls := s.witnessed(res)
	slices.Reverse(calls)
	for _, o := range calls {
		if o.Invoke.F == histories.Acquire && o.Outcome() != histories.OK {
			if c := s.refused(o); c != nil {
				return c
			}
		}
	}
	for _, event := range res.Witness {
		if e := s.Events[event]; e.F == histories.Audit {
			if c := s.blame(e); c != nil {
				return c
			}
		}
	}
	return nil
}

// refused explains why an acquire was not granted.
func (s *scene) refused(o *histories.Op) *checker.Cause {
	if c := s.nothingAsked(o); c != nil {
		return c
	}
	for _, e := range s.effectsOf(o) {
		if e.Kind != effects.Refused && e.Kind != effects.Looks && e.Kind != effects.Overwrites {
			continue
		}
		if c := s.inTheWay(s.lastChange(e.at, e.n), e.From); c != nil {
			return c
		}
	}
	for _, i := range s.exchangesOf(o) {
		if c := s.shown(i); failed(c.Reply) {
			return &checker.Cause{Kind: checker.ServerRefused, Events: []int{o.Invoke.Index, last(o)}, Commands: []checker.CauseCommand{c},
				Sentence: fmt.Sprintf("%s answered %s's acquire at event %d with an error: %s.", c.Node, c.Client, last(o), quoted(c))}
		}
	}
	return nil
}

// blame explains why a node had a key of the lock when an audit found it.
func (s *scene) blame(audit histories.Event) *checker.Cause {
	for at, all := range s.places {
		if at.node != audit.Node || at.Key != audit.Key {
			continue
		}
		n, _ := slices.BinarySearchFunc(all, audit.Time, func(e *effect, until time.Duration) int { return cmp.Compare(e.From, until) })
		return s.inTheWay(s.lastChange(at, n), audit.Time)
	}
	return nil
}

// lastChange is what last changed a key before its n-th effect; nil if that removed it.
func (s *scene) lastChange(at place, n int) *effect {
	for i := n - 1; i >= 0; i-- {
		e := s.places[at][i]
		if e.Kind == effects.Frees {
			return nil
		}
		if e.Kind.Changes() {
			return e
		}
	}
	return nil
}

// inTheWay explains why a key is there at some time that e was the last to change.
func (s *scene) inTheWay(e *effect, seen time.Duration) *checker.Cause {
	if e == nil {
		return nil
	}
	made := e // what gave it its value
	renewals := 0
	for made.Kind == effects.Extends {
		if renewals++; made.n == 0 {
			return nil
		}
		if made = s.lastChange(made.at, made.n); made == nil {
			return nil
		}
	}
	h, o := made.call.hold, made.call.op
	who := s.who(made)
	switch {
	case renewals > 0 && s.renewedAfter(e) && s.who(e) != who:
		return s.cause(checker.KeptRenewing, fmt.Sprintf("%s had given the lock up at event %d (%s), and its client went on to extend the key, which was %s's by then: %s at %s.",
			s.who(e), e.call.hold.Ended.Event, e.call.hold.End, who, s.quote(e), words.Seconds(e.From)), []*effect{e, made}, e.call.hold.Ended.Event)
	case made.Kind == effects.Overwrites && o != nil && o.Outcome() == histories.Fail && !orphan(s.madeBy(made)):
		if c := s.written(made); c != nil {
			return c
		}
	case o == nil && h != nil && !h.Open() && made.From >= h.Ended.Time:
		return s.cause(checker.LateCommand, begin(fmt.Sprintf("%s made the key again when %s had given the lock up at event %d: %s at %s.",
			s.callName(made), who, h.Ended.Event, s.quote(made), words.Seconds(made.To))), both(made, e), h.Ended.Event)
	case o != nil && e.TTL == histories.NoTTL && o.Outcome() != histories.Fail: // however late it came, a time to live would have ended it
		return s.noExpiry(made, h, o)
	case o != nil && e == made && tooLong(o, e):
		return s.cause(checker.LeaseTooLong, fmt.Sprintf("%s asked for a lease of %v, and its key was given %v: %s.", who, o.Invoke.TTL, e.TTL, s.quote(e)), []*effect{made})
	case o != nil && o.Done && made.From > o.Complete.Time:
		return s.cause(checker.LateCommand, fmt.Sprintf("%s's acquire ended at event %d, and its command took the key after that: %s was answered at %s.",
			who, o.Complete.Index, s.quote(made), words.Seconds(made.To)), both(made, e), o.Complete.Index)
	case o != nil && o.Invoke.F == histories.Acquire && o.Outcome() == histories.Fail:
		return s.cause(checker.KeyLeftBehind, fmt.Sprintf("%s's acquire was refused at event %d and left its key on %s: %s.",
			who, o.Complete.Index, made.at.node, s.quote(made)), both(made, e))
	}
	if e.TTL == histories.NoTTL {
		return s.noExpiry(made, h, o)
	}
	if c := s.addedTwice(e, seen); c != nil {
		return c
	}
	return s.lasting(made, e, h, o, renewals)
}

// orphan reports whether the call that made a key was told that it did not get it.
func orphan(made *effect) bool {
	return made != nil && made.call.op != nil && made.call.op.Outcome() == histories.Fail
}

// addedTwice explains that a key is there at a time by which the lease had ended that e, an extend, had
// asked for: the server executed it twice, and so it was told how much to add.
func (s *scene) addedTwice(e *effect, seen time.Duration) *checker.Cause {
	x, o := s.Exchanges[e.Exchange], e.call.op
	if x.First == "" || x.First != x.Reply || !e.call.is(histories.Extend) || !o.Done || o.Outcome() != histories.OK || o.Invoke.TTL <= 0 {
		return nil
	}
	asked := max(o.Complete.Time, e.To) + o.Invoke.TTL
	if e.To == never || seen <= asked+drift(o.Invoke.TTL) {
		return nil
	}
	return s.cause(checker.MetOwnKey, fmt.Sprintf("%s's extend at event %d was counted twice: the server executed %s twice, and answered %s, which was lost, and then %s; the lease that it asked for had ended at %s, and the key was there at %s.",
		s.who(e), last(o), x.Command, x.First, x.Reply, words.Seconds(asked), words.Seconds(seen)), []*effect{e})
}

// renewedAfter reports whether e is a command in the background of a client that had given the lock up.
func (s *scene) renewedAfter(e *effect) bool {
	h := e.call.hold
	return e.call.op == nil && h != nil && !h.Open() && e.From > h.Ended.Time
}

// both is a and, if it is another one, b.
func both(a, b *effect) []*effect {
	if a == b {
		return []*effect{a}
	}
	return []*effect{a, b}
}

// noExpiry explains that a key has no time to live.
func (s *scene) noExpiry(made *effect, h *histories.Hold, o *histories.Op) *checker.Cause {
	end, events := "nothing gave it one", []int(nil)
	for _, e := range s.Events {
		if h != nil && e.F == histories.Crash && e.Worker == h.Worker && e.Time >= made.From {
			end, events = fmt.Sprintf("%s crashed at event %d and nothing else gave it one", s.who(made), e.Index), append(events, e.Index)
			break
		}
	}
	if o != nil {
		events = append(events, o.Invoke.Index)
	}
	return s.cause(checker.NoExpiry, begin(fmt.Sprintf("%s set the key without a time to live, and %s: %s on %s.",
		s.callName(made), end, s.quote(made), made.at.node)), []*effect{made}, events...)
}

// tooLong reports whether an acquire gave its key more time to live than it was asked for.
func tooLong(o *histories.Op, e *effect) bool {
	return o.Invoke.F == histories.Acquire && o.Invoke.TTL > 0 && e.TTL > o.Invoke.TTL+drift(o.Invoke.TTL)
}

// lasting explains that a key lives although nobody is to have it any more.
func (s *scene) lasting(made, e *effect, h *histories.Hold, o *histories.Op, renewals int) *checker.Cause {
	if h == nil {
		return nil
	}
	who := histories.WorkerName(h.Worker)
	ended := "never gave the lock back"
	events := []int{h.Returned.Event}
	if !h.Open() {
		ended = fmt.Sprintf("had given the lock up at event %d (%s)", h.Ended.Event, h.End)
		events = append(events, h.Ended.Event)
	}
	switch {
	case renewals > 0 && e.call.op == nil && (h.Open() || e.From > h.Ended.Time):
		return s.cause(checker.KeptRenewing, fmt.Sprintf("%s %s, and its client went on to extend the key: %s at %s.",
			who, ended, s.quote(e), words.Seconds(e.From)), []*effect{e, made}, events...)
	case renewals > 0 && e.call.is(histories.Acquire) && e.call.op.Outcome() == histories.Fail && !s.sameHolder(e.call.attempt, h.Attempt):
		return s.cause(checker.ExtendedAnothers, begin(fmt.Sprintf("%s was refused at event %d, and gave the key, which was %s's, a new time to live: %s; %s %s.",
			s.callName(e), last(e.call.op), who, s.quote(e), who, ended)), []*effect{e, made}, events...)
	}
	for _, r := range h.Releases {
		if r.Outcome != histories.OK {
			continue
		}
		op := s.op(r.Invoked.Event)
		all := s.effectsOf(op)
		if c := cmp.Or(s.nothingAsked(op), s.errored(op)); c != nil {
			return c
		}
		if len(all) == 0 || slices.ContainsFunc(all, func(f *effect) bool { return f.Kind == effects.Frees }) {
			continue
		}
		f := all[len(all)-1]
		stayed := "stayed"
		switch {
		case f.Kind == effects.Extends && f.TTL > 0:
			stayed = fmt.Sprintf("was given %v more", f.TTL)
		case f.Kind != effects.Refused && f.Kind != effects.Looks:
			continue // what it did cannot be told
		}
		return s.cause(checker.NotReleased, fmt.Sprintf("%s's release was accepted at event %d, and the key %s: %s.",
			who, r.Returned.Event, stayed, s.quote(f)), []*effect{f, made}, r.Returned.Event)
	}
	return nil
}

// spinning explains that waiting cost too many commands.
func (s *scene) spinning(res checker.Result) *checker.Cause {
	most, at := 0, -1
	for i, e := range s.Events {
		if e.F != histories.Waited {
			continue
		}
		if n, err := strconv.Atoi(e.Value); err == nil && n > most {
			most, at = n, i
		}
	}
	if at < 0 {
		return nil
	}
	e := s.Events[at]
	began := e.Index
	for i := range s.ops {
		if o := &s.ops[i]; o.Invoke.F == histories.Acquire && o.Invoke.Worker == e.Worker && o.Invoke.Index <= e.Index {
			began = o.Invoke.Index
		}
	}
	return &checker.Cause{Kind: checker.Spinning, Events: append([]int{began}, e.Index),
		Sentence: fmt.Sprintf("%s sent %d commands in one wait of %s, which ended at event %d.", histories.WorkerName(e.Worker), most, words.Seconds(e.Time-s.Events[began].Time), e.Index)}
}

// tokens explains that a fencing token was not higher than one before it.
func (s *scene) tokens(res checker.Result) *checker.Cause {
	var grants []histories.Event
	for _, i := range res.Witness {
		if e := s.Events[i]; e.F == histories.Acquire && e.Type == histories.OK && e.Token != 0 {
			grants = append(grants, e)
		}
	}
	if len(grants) < 2 {
		return nil
	}
	a, b := grants[0], grants[len(grants)-1]
	c := &checker.Cause{Kind: checker.TokenNotHigher, Events: []int{a.Index, b.Index}}
	c.Sentence = fmt.Sprintf("%s was given token %d at event %d, and %s after it token %d at event %d", histories.WorkerName(a.Worker), a.Token, a.Index,
		histories.WorkerName(b.Worker), b.Token, b.Index)
	for _, e := range []histories.Event{b, a} {
		for _, i := range s.exchangesOf(s.op(e.Index)) {
			if x := s.shown(i); x.Reply == strconv.FormatInt(e.Token, 10) {
				c.Commands = append(c.Commands, x)
				break
			}
		}
	}
	for i, x := range slices.Backward(c.Commands) { // in the order of the grants
		joint := ": "
		if i < len(c.Commands)-1 {
			joint = ", and "
		}
		c.Sentence += joint + x.Node + " answered " + quoted(x)
	}
	if f := s.fault(a.Time, b.Time, ""); f != nil {
		c.Sentence += fmt.Sprintf("; between them was %s, at event %d", faultName(f), f.Invoke.Index)
		c.Events = append(c.Events, f.Invoke.Index)
		slices.Sort(c.Events)
	}
	c.Sentence += "."
	return c
}

// unseen explains a write over a version that its writer had not seen.
func (s *scene) unseen(res checker.Result) *checker.Cause {
	for _, i := range slices.Backward(res.Witness) {
		w := s.Events[i]
		if w.F != histories.Write || w.Type != histories.OK {
			continue
		}
		for _, r := range slices.Backward(s.Events[:i]) {
			if r.Attempt != w.Attempt || r.Type != histories.OK || r.F != histories.Read && r.F != histories.Write {
				continue
			}
			if r.F == histories.Read && r.Version != w.Version {
				name := histories.WorkerName(w.Worker)
				return &checker.Cause{Kind: checker.UnseenWrite, Events: []int{r.Index, w.Index},
					Sentence: fmt.Sprintf("%s wrote over version %d of the register at event %d, and had last read version %d, at event %d.", name, w.Version, w.Index, r.Version, r.Index)}
			}
			break
		}
	}
	return nil
}
