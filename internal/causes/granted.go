package causes

import (
	"fmt"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// sentTheSame explains that t was granted by a command that is word for word that of a holder.
func (s *scene) sentTheSame(a *histories.Hold, m, t *effect) *checker.Cause {
	name := histories.WorkerName(a.Worker)
	if s.who(t) == name {
		name = "it"
	}
	return s.cause(checker.SharedIdentity, begin(fmt.Sprintf("%s sent, word for word, what %s had sent at event %d, so that no server can tell the two apart: %s %s.",
		s.callName(t), name, a.Returned.Event, s.quote(t), s.when(t))), []*effect{t, m}, a.Returned.Event)
}

// grantedLate explains that b was granted when its key, by stake t, had ended and a had it by m.
func (s *scene) grantedLate(b *histories.Hold, t, m *effect) *checker.Cause {
	ended := expiryOf(t)
	if ended == never || !t.Kind.Changes() || ended > b.Returned.Time {
		return nil
	}
	return s.cause(checker.GrantedLate, fmt.Sprintf("%s was granted the lock at event %d, at %s, when its key on %s had ended at %s (%s, sent at %s); %s had taken it by then: %s %s.",
		histories.WorkerName(b.Worker), b.Returned.Event, words.Seconds(b.Returned.Time), t.at.node, words.Seconds(ended), s.quote(t), words.Seconds(s.Exchanges[t.Exchange].Sent),
		s.who(m), s.quote(m), s.when(m)), []*effect{t, m}, b.Returned.Event)
}

// overwritten explains that t was granted although the key was another's.
func (s *scene) overwritten(t *effect) *checker.Cause {
	owner, _ := s.owner(t)
	if t.call.op == nil || t.call.op.Outcome() != histories.OK || owner.hold == nil {
		return nil
	}
	made := s.madeBy(t)
	if made == nil || owner.hold.Ended.Event > 0 && owner.hold.Ended.Event < t.call.op.Invoke.Index {
		return nil
	}
	granted := "granted"
	if !t.call.is(histories.Acquire) {
		granted = "accepted"
	}
	return s.cause(checker.Overwritten, begin(fmt.Sprintf("%s wrote over a key that was %s's, and was %s: %s %s; %s had it by %s at event %d.",
		s.callName(t), s.who(made), granted, s.quote(t), s.when(t), s.who(made), s.Exchanges[made.Exchange].Command, owner.hold.Returned.Event)),
		[]*effect{t, made}, owner.hold.Returned.Event)
}

// written explains that e, of whichever call, wrote over a key that was another's.
func (s *scene) written(e *effect) *checker.Cause {
	if c := s.overwritten(e); c != nil {
		return c
	}
	made := s.madeBy(e)
	if made == nil || made.call.attempt == e.call.attempt {
		return nil
	}
	return s.cause(checker.Trespassed, begin(fmt.Sprintf("%s wrote over a key that was %s's, and was not granted it: %s %s.",
		s.callName(e), s.who(made), s.quote(e), s.when(e))), []*effect{e, made})
}

// sharedIdentity explains that t counted itself in on a key that was another's.
func (s *scene) sharedIdentity(t *effect) *checker.Cause {
	made := s.madeBy(t)
	if made == nil || t.call.op == nil || made.call.op == nil {
		return nil
	}
	return s.cause(checker.SharedIdentity, begin(fmt.Sprintf("%s was let in on a key that was %s's, as if it were the same holder: %s %s; %s had made the key by %s at event %d.",
		s.callName(t), s.who(made), s.quote(t), s.when(t), s.who(made), s.Exchanges[made.Exchange].Command, last(made.call.op))), []*effect{t, made})
}
