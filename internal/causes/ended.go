package causes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
	"github.com/lockbench/lockbench/internal/words"
)

// ended explains why the key that a held by stake m was free, or not a's any more, for t.
func (s *scene) ended(a *histories.Hold, m, t *effect) *checker.Cause {
	if t.Kind == effects.Refused || t.Kind == effects.Looks && t.Of != effects.Nobodys {
		return nil // it did not find the key gone
	}
	expiry, shortened := s.expiry(a, m), (*effect)(nil)
	var unclear []*effect
	for _, e := range s.places[m.at][m.n+1 : t.n] {
		switch e.Kind {
		case effects.Frees:
			if !s.sameLife(m, e) {
				unclear = append(unclear, e)
				continue
			}
			return s.freed(a, m, e)
		case effects.Takes, effects.Overwrites:
			if e.call.attempt == a.Attempt {
				continue
			}
			if e.Kind == effects.Overwrites && e.From < expiry {
				return s.written(e)
			}
			return s.expired(a, m, shortened, e, expiry)
		case effects.Extends:
			if e.TTL == 0 { // nobody can tell for how long
				unclear = append(unclear, e)
				continue
			}
			next := expiryOf(e)
			if next < expiry-drift(e.TTL) && e.From < expiry {
				shortened = e
			}
			expiry = next
		case effects.Unclear:
			if e.From < expiry {
				unclear = append(unclear, e)
			}
		}
	}
	if c := s.expired(a, m, shortened, t, expiry); c != nil || t.To >= min(expiry-drift(a.TTL), sureEnd(a, m)) || s.shaken(m, t) || s.crossed(m, t) {
		return c
	}
	return s.eliminated(a, m, unclear, t)
}

// freed explains that e deleted the key on which a's hold rested.
func (s *scene) freed(a *histories.Hold, m, e *effect) *checker.Cause {
	if s.sameHolder(e.call.attempt, a.Attempt) && e.call.attempt != 0 {
		if e.call.is(histories.Release) && e.call.attempt == a.Attempt {
			return nil // it gave the lock back
		}
		return s.cause(checker.OwnKeyDeleted, begin(fmt.Sprintf("%s deleted the key that %s still relied on: %s %s.",
			s.callName(e), histories.WorkerName(a.Worker), s.quote(e), s.when(e))), []*effect{e, m})
	}
	return s.releasedAnothers(e, a, m)
}

func (s *scene) releasedAnothers(e *effect, b *histories.Hold, m *effect) *checker.Cause {
	same := ""
	if token := argumentOf(s.Exchanges[e.Exchange].Words); token != "" && slices.Contains(s.Exchanges[m.Exchange].Words, token) {
		same = ", with the same token"
	}
	return s.cause(checker.ReleasedAnothers, begin(fmt.Sprintf("%s deleted a key that was %s's: %s %s; %s had it by %s at event %d%s.",
		s.callName(e), histories.WorkerName(b.Worker), s.quote(e), s.when(e),
		histories.WorkerName(b.Worker), s.Exchanges[m.Exchange].Command, b.Returned.Event, same)), []*effect{e, m}, b.Returned.Event)
}

// argumentOf is the first argument of a script that is no key, which is what a release compares; "" if
// there is none, or the command is no script.
func argumentOf(words []string) string {
	if len(words) < 3 || !strings.HasPrefix(strings.ToUpper(words[0]), "EVAL") && !strings.EqualFold(words[0], "FCALL") {
		return ""
	}
	if keys, err := strconv.Atoi(words[2]); err == nil && 0 <= keys && 3+keys < len(words) {
		return words[3+keys]
	}
	return ""
}

// beginsAs reports whether the token that t compared is the beginning of the one that m had given the key, and another one.
func (s *scene) beginsAs(t, m *effect) bool {
	token, other := argumentOf(s.Exchanges[t.Exchange].Words), argumentOf(s.Exchanges[m.Exchange].Words)
	return token != "" && len(token) < len(other) && strings.HasPrefix(other, token)
}

// eliminated explains what ended a's hold before t where scripts, which are not seen through,
// are all that came to the key.
func (s *scene) eliminated(a *histories.Hold, m *effect, unclear []*effect, t *effect) *checker.Cause {
	name := histories.WorkerName(a.Worker)
	had := fmt.Sprintf("%s had the key by %s at event %d", name, s.Exchanges[m.Exchange].Command, a.Returned.Event)
	var others []*effect
	for _, e := range unclear {
		if e.call.attempt == 0 || s.sameHolder(e.call.attempt, a.Attempt) {
			return s.ownEnd(a, m, unclear, t)
		}
		others = append(others, e)
	}
	switch {
	case len(others) == 0 && s.byInstant(m) && t.Kind == effects.Takes && s.who(t) != name:
		return s.cause(checker.LeaseTooShort, fmt.Sprintf("%s asked for a lease of %v, and its key, which was to end at an instant that the command named, had ended when %s took it: %s %s; %s %s.",
			name, a.TTL, s.who(t), s.quote(m), s.when(m), s.quote(t), s.when(t)), []*effect{m, t}, a.Returned.Event)
	case len(others) == 0 && t.call.is(histories.Acquire) && t.Kind != effects.Looks && s.who(t) != name:
		kind := checker.GrantedOver
		if s.beginsAs(t, m) {
			kind = checker.TokenPrefix
		}
		return s.cause(kind, begin(fmt.Sprintf("%s was granted while %s's key was there: %s %s; %s, its lease ran until %s, and nothing else had come to the key.",
			s.callName(t), name, s.quote(t), s.when(t), had, words.Seconds(leaseOf(a)))), []*effect{t, m}, a.Returned.Event)
	case len(others) == 1:
		kind := checker.EndedByOthers
		if others[0].Kind == effects.Frees {
			kind = checker.ReleasedAnothers
		}
		return s.cause(kind, begin(fmt.Sprintf("%s ended %s's hold: %s %s is all that came to the key between %s's acquire, at event %d, and %s's, at event %d.",
			s.callName(others[0]), name, s.quote(others[0]), s.when(others[0]), name, a.Returned.Event, s.who(t), eventOf(t))), []*effect{others[0], m, t}, a.Returned.Event)
	case len(others) > 1:
		var list []string
		for _, e := range others {
			list = append(list, fmt.Sprintf("%s's %s %s", s.who(e), s.quote(e), s.when(e)))
		}
		return s.cause(checker.EndedByOthers, fmt.Sprintf("One of these ended %s's hold: %s; nothing else came to the key between %s's acquire, at event %d, and %s's, at event %d.",
			name, strings.Join(list, ", "), name, a.Returned.Event, s.who(t), eventOf(t)), append(slices.Clone(others), m, t), a.Returned.Event)
	}
	return nil
}

// byInstant reports whether a plain command has set a key that ends at an instant which it names.
func (s *scene) byInstant(e *effect) bool {
	words := s.Exchanges[e.Exchange].Words
	return len(words) > 3 && strings.EqualFold(words[0], "SET") && slices.ContainsFunc(words[3:], func(w string) bool {
		return strings.EqualFold(w, "EXAT") || strings.EqualFold(w, "PXAT")
	})
}

// ownEnd explains that a's own command, which is all that came to the key, ended a's hold.
func (s *scene) ownEnd(a *histories.Hold, m *effect, unclear []*effect, t *effect) *checker.Cause {
	name, e := histories.WorkerName(a.Worker), unclear[0]
	if len(unclear) > 1 || e.call.attempt != a.Attempt || e.call.is(histories.Release) || t.Kind != effects.Takes {
		return nil
	}
	return s.cause(checker.OwnKeyDeleted, begin(fmt.Sprintf("%s ended %s's own hold: %s %s is all that came to the key between %s's acquire, at event %d, and %s's, at event %d.",
		s.callName(e), name, s.quote(e), s.when(e), name, a.Returned.Event, s.who(t), eventOf(t))), []*effect{e, m, t}, a.Returned.Event)
}

// eventOf is the event by which an effect's call is told, or 0.
func eventOf(e *effect) int {
	if e.call.op == nil {
		return 0
	}
	return last(e.call.op)
}
