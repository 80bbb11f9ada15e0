package causes

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
)

// stakes are what a granted attempt did to keys, the latest on each place that it took, wrote,
// counted itself in or changed in a way that cannot be told, in the order of places.
func (s *scene) stakes(attempt uint64) []*effect {
	byPlace := map[place]*effect{}
	var order []place
	for i := range s.effects {
		e := &s.effects[i]
		if e.call.attempt != attempt || !e.call.is(histories.Acquire) || !e.Kind.Changes() && e.Kind != effects.Unclear {
			continue
		}
		if _, known := byPlace[e.at]; !known {
			order = append(order, e.at)
		}
		if byPlace[e.at] = e; e.Kind == effects.Frees {
			byPlace[e.at] = nil
		}
	}
	var all []*effect
	for _, at := range order {
		if e := byPlace[at]; e != nil {
			all = append(all, e)
		}
	}
	return all
}

// taken is the first that the acquire of a stake did at its place.
func (s *scene) taken(e *effect) *effect {
	for _, first := range s.places[e.at] {
		if first.call.op == e.call.op && (first.Kind.Changes() || first.Kind == effects.Unclear) {
			return first
		}
	}
	return e
}

// met is what the acquire of an attempt did at a place last: if it is there at all.
func (s *scene) met(attempt uint64, at place) *effect {
	for _, e := range slices.Backward(s.places[at]) {
		if e.call.attempt == attempt && e.call.is(histories.Acquire) {
			return e
		}
	}
	return nil
}

// sameLife reports whether the key that e met is the one that m had made or was let in on.
func (s *scene) sameLife(m, e *effect) bool {
	made := m
	if m.Kind != effects.Takes && m.Kind != effects.Overwrites {
		made = s.madeBy(m)
	}
	return made != nil && s.madeBy(e) == made
}

// crossed reports whether a command that may have changed the key between m and t may as well have
// come before or after: nothing can be said then of what came between.
func (s *scene) crossed(m, t *effect) bool {
	may := func(e *effect) bool { return e.Kind.Changes() || e.Kind == effects.Unclear }
	all := s.places[m.at]
	return slices.ContainsFunc(all[:m.n], func(e *effect) bool { return may(e) && e.To > m.To }) ||
		slices.ContainsFunc(all[t.n+1:], func(e *effect) bool { return may(e) && e.From < t.From })
}

// expiry is when the key ends on which a's stake m is or, if no command tells, a's lease.
func (s *scene) expiry(a *histories.Hold, m *effect) time.Duration {
	if m.Kind == effects.Unclear || m.TTL == 0 {
		return leaseOf(a)
	}
	return expiryOf(m)
}

// leaseOf is when the lease of a hold ends that it was granted, by its latest extend.
func leaseOf(h *histories.Hold) time.Duration {
	end := never
	if h.TTL > 0 {
		end = h.Returned.Time + h.TTL
	}
	for _, x := range h.Extends {
		if end = never; x.TTL > 0 {
			end = x.Returned.Time + x.TTL
		}
	}
	return end
}

// expiryOf is when a key's time to live ends that e gave it: never if it has none, or if that is not known.
func expiryOf(e *effect) time.Duration {
	if e.TTL <= 0 || e.To == never {
		return never
	}
	return e.To + e.TTL
}

const never time.Duration = 1<<63 - 1

// undisturbed reports whether nobody but a's holder may have changed the key between m and t, and
// that one gave it no time to live that ends before t.
func (s *scene) undisturbed(a *histories.Hold, m, t *effect) bool {
	return t.To < sureEnd(a, m) && !s.shaken(m, t) && !slices.ContainsFunc(s.places[m.at][m.n+1:t.n], func(e *effect) bool {
		if !s.sameHolder(e.call.attempt, a.Attempt) {
			return e.Kind.Changes() || e.Kind == effects.Unclear
		}
		return e.Kind.Changes() && e.TTL > 0 && e.From+e.TTL-drift(e.TTL) <= t.To
	})
}

// sureEnd is until when the key on which a's stake m is was certainly to live, unless something
// changed that.
func sureEnd(a *histories.Hold, m *effect) time.Duration {
	switch {
	case m.TTL == histories.NoTTL:
		return never
	case m.TTL > 0:
		return m.From + m.TTL - drift(m.TTL)
	case a.TTL > 0:
		return a.Invoked.Time + a.TTL - drift(a.TTL)
	}
	return never
}

// alike reports whether t let its caller in by the same command, word for word, by which m had, and nothing
// that either acquire had sent there before tells the two apart.
func (s *scene) alike(m, t *effect) bool {
	return (t.Kind == effects.Unclear || t.Kind == effects.Extends) && s.sameWords(m, t) && s.sameWords(s.taken(m), s.taken(t))
}

func (s *scene) sameWords(a, b *effect) bool {
	words := s.Exchanges[a.Exchange].Words
	return len(words) > 0 && slices.Equal(words, s.Exchanges[b.Exchange].Words)
}
