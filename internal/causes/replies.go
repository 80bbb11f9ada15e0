package causes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
)

// witnessed are the calls of a result's witness, in order.
func (s *scene) witnessed(res checker.Result) []*histories.Op {
	var all []*histories.Op
	for _, event := range res.Witness {
		if o := s.op(event); o != nil && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all
}

// ownership explains that a hold vanished which nobody had given up.
func (s *scene) ownership(res checker.Result) *checker.Cause {
	for _, o := range s.witnessed(res) {
		if c := s.tookAnothers(o); c != nil {
			return c
		}
	}
	for _, o := range s.witnessed(res) { // what somebody else did to whom
		if !o.Done || o.Invoke.F != histories.Acquire || o.Outcome() != histories.OK {
			continue
		}
		b := s.holds[o.Invoke.Attempt]
		for _, m := range s.stakes(o.Invoke.Attempt) {
			if c := s.changed(b, m); c != nil {
				return c
			}
		}
	}
	return s.overlap(res)
}

// changed explains what another did first to the key on which b's hold rested.
func (s *scene) changed(b *histories.Hold, m *effect) *checker.Cause {
	for _, e := range s.places[m.at][m.n+1:] {
		if e.call.attempt == b.Attempt || e.From >= s.expiry(b, m) {
			continue
		}
		switch e.Kind {
		case effects.Frees:
			if s.sameLife(m, e) {
				return s.freed(b, m, e)
			}
			return nil
		case effects.Overwrites:
			return s.written(e)
		case effects.Takes:
			return nil
		}
	}
	return nil
}

// tookAnothers explains that a release or an extend changed a key that was another's.
func (s *scene) tookAnothers(o *histories.Op) *checker.Cause {
	if o.Invoke.F != histories.Release && o.Invoke.F != histories.Extend {
		return nil
	}
	for _, e := range s.effectsOf(o) {
		made := s.madeBy(e)
		stake := s.victim(e, made)
		if stake == nil {
			continue
		}
		b := stake.call.hold
		switch {
		case e.Kind == effects.Frees:
			return s.releasedAnothers(e, b, made)
		case e.Kind == effects.Extends && s.sameHolder(made.call.attempt, e.call.attempt):
			return s.sharedIdentity(stake)
		case e.Kind == effects.Extends:
			return s.cause(checker.ExtendedAnothers, begin(fmt.Sprintf("%s gave a key that was %s's a new time to live: %s %s; %s had it by %s at event %d.",
				s.callName(e), histories.WorkerName(b.Worker), s.quote(e), s.when(e),
				histories.WorkerName(b.Worker), s.Exchanges[made.Exchange].Command, b.Returned.Event)), []*effect{e, made}, b.Returned.Event)
		}
	}
	return nil
}

// tookBack explains that what a release or an extend met was the caller's own again, as a command of
// its client's had written it over another's key.
func (s *scene) tookBack(o *histories.Op) *checker.Cause {
	for _, e := range s.effectsOf(o) {
		made := s.madeBy(e)
		if made == nil || made.Kind != effects.Overwrites || made.call.is(histories.Acquire) || s.who(made) != s.who(e) {
			continue
		}
		if c := s.written(made); c != nil {
			return c
		}
	}
	return nil
}

// victim is that by which another than e's attempt held the key which e met: it had made it, or was
// let in on it. Nil: it was nobody else's.
func (s *scene) victim(e, made *effect) *effect {
	if made == nil {
		return nil
	}
	for _, m := range s.places[e.at][made.n:max(made.n+1, e.n)] { // made may have been sent after e
		h := m.call.hold
		if h == nil || !m.Kind.Changes() || s.sameHolder(m.call.attempt, e.call.attempt) {
			continue
		}
		if m.call.is(histories.Acquire) && (h.Open() || h.Ended.Event > e.call.op.Invoke.Index) {
			return m
		}
	}
	return nil
}

// replies explains an answer that was untrue: of the last call of the witness.
func (s *scene) replies(res checker.Result) *checker.Cause {
	calls := s.witnessed(res)
	slices.Reverse(calls)
	for _, o := range calls {
		if !o.Done {
			continue
		}
		if c := s.untrue(o); c != nil {
			return c
		}
	}
	for _, event := range res.Witness {
		if e := s.Events[event]; e.F == histories.Audit {
			return s.blame(e)
		}
	}
	return nil
}

func (s *scene) untrue(o *histories.Op) *checker.Cause {
	switch f, outcome := o.Invoke.F, o.Outcome(); {
	case f == histories.Acquire && outcome == histories.Fail:
		return cmp.Or(s.metOwn(o), s.tookAndRefused(o), s.refused(o))
	case f == histories.Acquire && outcome == histories.OK:
		return s.granted(o)
	case f == histories.Verify && outcome == histories.OK:
		return cmp.Or(s.nothingAsked(o), s.falseYes(o))
	case f != histories.Release && f != histories.Extend:
		return nil
	case outcome == histories.OK:
		return cmp.Or(s.tookAnothers(o), s.tookBack(o), s.falseDone(o))
	case outcome == histories.Fail:
		return s.falseRefusal(o)
	}
	return nil
}

// falseDone explains that a release or an extend said that it was done: the server had not done it.
func (s *scene) falseDone(o *histories.Op) *checker.Cause {
	if c := s.nothingAsked(o); c != nil {
		return c
	}
	own := s.effectsOf(o)
	if len(own) == 0 || slices.ContainsFunc(own, func(e *effect) bool { return e.Kind.Changes() || e.Kind == effects.Unclear }) {
		return nil
	}
	e := own[len(own)-1]
	return s.cause(checker.FalseDone, fmt.Sprintf("%s's %s at event %d said that it was done, and had changed nothing: %s.",
		s.who(e), o.Invoke.F, o.Complete.Index, s.quote(e)), []*effect{e})
}

// falseYes explains that a verify said that the lock is its holder's: the server had told of another's key.
func (s *scene) falseYes(o *histories.Op) *checker.Cause {
	for _, e := range s.effectsOf(o) {
		made := s.madeBy(e)
		stake := s.victim(e, made)
		if stake == nil {
			continue
		}
		b := stake.call.hold
		return s.cause(checker.FalseDone, fmt.Sprintf("%s's %s at event %d said that the lock is its own, when the key was %s's: %s; %s had it by %s at event %d.",
			s.who(e), o.Invoke.F, o.Complete.Index, histories.WorkerName(b.Worker), s.quote(e),
			histories.WorkerName(b.Worker), s.Exchanges[made.Exchange].Command, b.Returned.Event), []*effect{e, made}, b.Returned.Event)
	}
	return nil
}

// falseRefusal explains that a release or an extend said that it was refused: the server had done it.
func (s *scene) falseRefusal(o *histories.Op) *checker.Cause {
	for _, e := range s.effectsOf(o) {
		if e.Kind == effects.Frees || e.Kind == effects.Extends {
			return s.cause(checker.FalseRefusal, fmt.Sprintf("%s's %s at event %d said that it was refused, and the server had done it: %s.",
				s.who(e), o.Invoke.F, o.Complete.Index, s.quote(e)), []*effect{e})
		}
	}
	return nil
}

// metOwn explains that an acquire was refused by the key that it had made itself.
func (s *scene) metOwn(o *histories.Op) *checker.Cause {
	var made *effect
	for _, e := range s.effectsOf(o) {
		switch {
		case e.Kind == effects.Takes:
			made = e
		case made != nil && e.at == made.at && e.Kind == effects.Refused:
			again := ""
			if e.Exchange == made.Exchange {
				again = fmt.Sprintf(": the server executed %s twice, and answered %s, which was lost, and then %s",
					s.Exchanges[e.Exchange].Command, s.Exchanges[e.Exchange].First, s.Exchanges[e.Exchange].Reply)
			} else {
				again = fmt.Sprintf(": %s had made the key, and then %s met it", s.quote(made), s.quote(e))
			}
			return s.cause(checker.MetOwnKey, fmt.Sprintf("%s's acquire was refused at event %d because of its own key%s.",
				s.who(e), o.Complete.Index, again), []*effect{e, made})
		}
	}
	return nil
}

// tookAndRefused explains that an acquire was refused whose own command had taken the key, and that
// left it there.
func (s *scene) tookAndRefused(o *histories.Op) *checker.Cause {
	var made *effect
	for _, e := range s.effectsOf(o) {
		switch {
		case e.Kind == effects.Takes && e.To <= o.Complete.Time:
			made = e
		case e.Kind == effects.Frees, e.Kind == effects.Unclear:
			return nil
		}
	}
	if made == nil || s.Masters > 1 {
		return nil // of several masters a minority is not enough
	}
	unheard := ""
	if s.Exchanges[made.Exchange].Replied == 0 {
		unheard = ", an answer that got lost"
	}
	return s.cause(checker.KeyLeftBehind, fmt.Sprintf("%s's acquire was refused at event %d, and its own command had taken the key: %s%s.",
		s.who(made), o.Complete.Index, s.quote(made), unheard), []*effect{made})
}

// twice explains that a command which was executed twice was counted twice.
func (s *scene) twice(res checker.Result) *checker.Cause {
	worker := map[int]bool{}
	for _, o := range s.witnessed(res) {
		worker[o.Invoke.Worker] = true
	}
	for i := range s.effects {
		e := &s.effects[i]
		x := s.Exchanges[e.Exchange]
		if o := e.call.op; o != nil && worker[o.Invoke.Worker] && x.First != "" && e.Kind.Changes() {
			return s.cause(checker.MetOwnKey, fmt.Sprintf("%s's %s at event %d was counted twice: the server executed %s twice, and answered %s, which was lost, and then %s.",
				s.who(e), o.Invoke.F, last(o), x.Command, x.First, x.Reply), []*effect{e})
		}
	}
	return nil
}

// sameName explains that somebody was let in by the very command of another.
func (s *scene) sameName() *checker.Cause {
	for _, all := range s.places {
		for i, t := range all {
			if !t.call.is(histories.Acquire) || t.call.op.Outcome() != histories.OK {
				continue
			}
			for _, m := range all[:i] {
				if h := m.call.hold; m.call.is(histories.Acquire) && h != nil && s.who(m) != s.who(t) && s.alike(m, t) && t.To < s.expiry(h, m)-drift(h.TTL) && s.undisturbed(h, m, t) && (h.Open() || h.Ended.Event > t.call.op.Invoke.Index) {
					return s.sentTheSame(h, m, t)
				}
			}
		}
	}
	return nil
}

// failed reports whether a reply is an error, and of which kind.
func failed(reply string) bool {
	text, quoted := strings.CutPrefix(reply, `"`)
	name, _, more := strings.Cut(text, " ")
	return quoted && more && len(name) > 2 && strings.ToUpper(name) == name && strings.ToLower(name) != name
}
