package causes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// stakes are what a granted attempt did to keys, the latest on each place that it took, wrote,
// counted itself in or changed in a way that cannot be told, in the order of places.
func (s *scene) stakes(attempt uint64) []*effect {
	byPlace := map[place]*effect{}
	var order []place
	for i := range s.effects {
		e := &s.effects[i]
		if e.call.attempt != attempt || !e.call.is(histories.Acquire) || !e.Kind.Changes() && e.Kind != histories.Unclear {
			continue
		}
		if _, known := byPlace[e.at]; !known {
			order = append(order, e.at)
		}
		if byPlace[e.at] = e; e.Kind == histories.Frees {
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
		if first.call.op == e.call.op && (first.Kind.Changes() || first.Kind == histories.Unclear) {
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

// beside explains how b was granted while a, granted before it, believed in its lock: nil if it
// cannot be derived.
func (s *scene) beside(a, b *histories.Hold) *checker.Cause {
	for _, h := range []*histories.Hold{b, a} {
		if c := s.nothingAsked(s.acquire(h.Attempt)); c != nil {
			return c
		}
	}
	mine, theirs := s.stakes(a.Attempt), s.stakes(b.Attempt)
	var best *checker.Cause
	better := func(c *checker.Cause) {
		if c != nil && (best == nil || nearness(c.Kind) < nearness(best.Kind)) {
			best = c
		}
	}
	for _, t := range theirs {
		if owner, known := s.owner(t); known && !s.sameHolder(owner.attempt, b.Attempt) {
			switch {
			case t.Kind == histories.Overwrites:
				better(s.overwritten(t))
			case t.Kind == histories.Extends && !b.Shares(*a):
				better(s.sharedIdentity(t))
			}
		}
	}
	for _, m := range mine {
		t := s.met(b.Attempt, m.at)
		switch {
		case best != nil || t == nil:
		case t.n > m.n && s.alike(m, t) && t.To < s.expiry(a, m)-drift(a.TTL) && s.undisturbed(a, m, t):
			better(s.sentTheSame(a, m, t))
		case t.n < m.n:
			better(s.grantedLate(b, t, m))
		default:
			better(s.ended(a, m, t))
		}
	}
	if best != nil {
		return best
	}
	if c := cmp.Or(s.minority(a, mine), s.minority(b, theirs)); c != nil {
		return c
	}
	if len(mine) > 0 && len(theirs) > 0 {
		if c := s.elsewhere(a, s.taken(mine[0]), s.taken(theirs[0])); c != nil {
			return c
		}
		return s.overrun(a, mine[0], b)
	}
	return nil
}

// nearness orders what a lock does wrong before what happens to it.
func nearness(kind checker.CauseKind) int {
	switch kind {
	case checker.ServerForgot:
		return 1
	case checker.LeaseOutlived:
		return 2
	}
	return 0
}

// ended explains why the key that a held by stake m was free, or not a's any more, for t.
func (s *scene) ended(a *histories.Hold, m, t *effect) *checker.Cause {
	if t.Kind == histories.Refused || t.Kind == histories.Looks && t.Of != histories.Nobodys {
		return nil // it did not find the key gone
	}
	expiry, shortened := s.expiry(a, m), (*effect)(nil)
	var unclear []*effect
	for _, e := range s.places[m.at][m.n+1 : t.n] {
		switch e.Kind {
		case histories.Frees:
			if !s.sameLife(m, e) {
				unclear = append(unclear, e)
				continue
			}
			return s.freed(a, m, e)
		case histories.Takes, histories.Overwrites:
			if e.call.attempt == a.Attempt {
				continue
			}
			if e.Kind == histories.Overwrites && e.From < expiry {
				return s.written(e)
			}
			return s.expired(a, m, shortened, e, expiry)
		case histories.Extends:
			if e.TTL == 0 { // nobody can tell for how long
				unclear = append(unclear, e)
				continue
			}
			next := expiryOf(e)
			if next < expiry-drift(e.TTL) && e.From < expiry {
				shortened = e
			}
			expiry = next
		case histories.Unclear:
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

// sameLife says whether the key that e met is the one that m had made or was let in on.
func (s *scene) sameLife(m, e *effect) bool {
	made := m
	if m.Kind != histories.Takes && m.Kind != histories.Overwrites {
		made = s.madeBy(m)
	}
	return made != nil && s.madeBy(e) == made
}

// crossed says whether a command that may have changed the key between m and t may as well have
// come before or after: nothing can be said then of what came between.
func (s *scene) crossed(m, t *effect) bool {
	may := func(e *effect) bool { return e.Kind.Changes() || e.Kind == histories.Unclear }
	all := s.places[m.at]
	return slices.ContainsFunc(all[:m.n], func(e *effect) bool { return may(e) && e.To > m.To }) ||
		slices.ContainsFunc(all[t.n+1:], func(e *effect) bool { return may(e) && e.From < t.From })
}

// expiry is when the key ends on which a's stake m is or, if no command tells, a's lease.
func (s *scene) expiry(a *histories.Hold, m *effect) time.Duration {
	if m.Kind == histories.Unclear || m.TTL == 0 {
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
	return s.cause(checker.ReleasedAnothers, begin(fmt.Sprintf("%s deleted a key that was %s's: %s %s; %s had it by %s at event %d.",
		s.callName(e), histories.WorkerName(b.Worker), s.quote(e), s.when(e),
		histories.WorkerName(b.Worker), s.Exchanges[m.Exchange].Command, b.Returned.Event)), []*effect{e, m}, b.Returned.Event)
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
	case len(others) == 0 && t.call.is(histories.Acquire) && t.Kind != histories.Looks && s.who(t) != name:
		return s.cause(checker.GrantedOver, begin(fmt.Sprintf("%s was granted while %s's key was there: %s %s; %s, its lease ran until %s, and nothing else had come to the key.",
			s.callName(t), name, s.quote(t), s.when(t), had, seconds(leaseOf(a)))), []*effect{t, m}, a.Returned.Event)
	case len(others) == 1:
		kind := checker.EndedByOthers
		if others[0].Kind == histories.Frees {
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

// ownEnd explains that a's own command, which is all that came to the key, ended a's hold.
func (s *scene) ownEnd(a *histories.Hold, m *effect, unclear []*effect, t *effect) *checker.Cause {
	name, e := histories.WorkerName(a.Worker), unclear[0]
	if len(unclear) > 1 || e.call.attempt != a.Attempt || e.call.is(histories.Release) || t.Kind != histories.Takes {
		return nil
	}
	return s.cause(checker.OwnKeyDeleted, begin(fmt.Sprintf("%s ended %s's own hold: %s %s is all that came to the key between %s's acquire, at event %d, and %s's, at event %d.",
		s.callName(e), name, s.quote(e), s.when(e), name, a.Returned.Event, s.who(t), eventOf(t))), []*effect{e, m, t}, a.Returned.Event)
}

// undisturbed says whether nobody but a's holder may have changed the key between m and t, and
// that one gave it no time to live that ends before t.
func (s *scene) undisturbed(a *histories.Hold, m, t *effect) bool {
	return t.To < sureEnd(a, m) && !s.shaken(m, t) && !slices.ContainsFunc(s.places[m.at][m.n+1:t.n], func(e *effect) bool {
		if !s.sameHolder(e.call.attempt, a.Attempt) {
			return e.Kind.Changes() || e.Kind == histories.Unclear
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

// sentTheSame explains that t was granted by a command that is word for word that of a holder.
func (s *scene) sentTheSame(a *histories.Hold, m, t *effect) *checker.Cause {
	name := histories.WorkerName(a.Worker)
	if s.who(t) == name {
		name = "it"
	}
	return s.cause(checker.SharedIdentity, begin(fmt.Sprintf("%s sent, word for word, what %s had sent at event %d, so that no server can tell the two apart: %s %s.",
		s.callName(t), name, a.Returned.Event, s.quote(t), s.when(t))), []*effect{t, m}, a.Returned.Event)
}

// alike says whether t let its caller in by the same command, word for word, by which m had.
func (s *scene) alike(m, t *effect) bool {
	words := s.Exchanges[m.Exchange].Words
	return (t.Kind == histories.Unclear || t.Kind == histories.Extends) && len(words) > 0 && slices.Equal(words, s.Exchanges[t.Exchange].Words)
}

// grantedLate explains that b was granted when its key, by stake t, had ended and a had it by m.
func (s *scene) grantedLate(b *histories.Hold, t, m *effect) *checker.Cause {
	ended := expiryOf(t)
	if ended == never || !t.Kind.Changes() || ended > b.Returned.Time {
		return nil
	}
	return s.cause(checker.GrantedLate, fmt.Sprintf("%s was granted the lock at event %d, at %s, when its key on %s had ended at %s (%s, sent at %s); %s had taken it by then: %s %s.",
		histories.WorkerName(b.Worker), b.Returned.Event, seconds(b.Returned.Time), t.at.node, seconds(ended), s.quote(t), seconds(s.Exchanges[t.Exchange].Sent),
		s.who(m), s.quote(m), s.when(m)), []*effect{t, m}, b.Returned.Event)
}

// overrun explains that a's lease, as it was granted, had ended when b was granted the lock.
func (s *scene) overrun(a *histories.Hold, m *effect, b *histories.Hold) *checker.Cause {
	ended := leaseOf(a)
	if ended == never || b.Returned.Time < ended-drift(a.TTL) || s.fault(m.From, b.Returned.Time, m.at.node) != nil {
		return nil
	}
	return s.outlived(a, m, s.stakes(b.Attempt)[0], ended)
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
	return s.cause(checker.Overwritten, begin(fmt.Sprintf("%s wrote over a key that was %s's, and was granted: %s %s; %s had it by %s at event %d.",
		s.callName(t), s.who(made), s.quote(t), s.when(t), s.who(made), s.Exchanges[made.Exchange].Command, owner.hold.Returned.Event)),
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

// expired explains that a's key was gone by its time to live when t took it, or by a fault before that.
func (s *scene) expired(a *histories.Hold, m, shortened, t *effect, expiry time.Duration) *checker.Cause {
	name := histories.WorkerName(a.Worker)
	if t.To < expiry-drift(max(m.TTL, a.TTL)) {
		return s.forgotten(a, m, t, expiry)
	}
	ended := expiry
	switch {
	case shortened != nil:
		return s.cause(checker.LeaseShortened, begin(fmt.Sprintf("%s gave the key a shorter time to live than %s had been granted: %s %s; the key ended at %s, and %s's lease was to last until %s.",
			s.callName(shortened), name, s.quote(shortened), s.when(shortened), seconds(ended), name, seconds(a.Invoked.Time+a.TTL))), []*effect{shortened, m, t}, a.Returned.Event)
	case m.TTL > 0 && a.TTL > 0 && m.TTL < a.TTL-drift(a.TTL):
		return s.cause(checker.LeaseTooShort, fmt.Sprintf("%s asked for a lease of %v, and its key was given %v: %s %s.",
			name, a.TTL, m.TTL, s.quote(m), s.when(m)), []*effect{m, t}, a.Returned.Event)
	case a.Deadline > ended+drift(m.TTL) && t.To < a.Deadline && len(a.Extends) == 0:
		return s.cause(checker.DeadlineTooLate, fmt.Sprintf("%s was told at event %d that its lease lasts until %s, but its key ended at %s: %s was sent at %s.",
			name, a.Returned.Event, seconds(a.Deadline), seconds(ended), s.quote(m), seconds(s.Exchanges[m.Exchange].Sent)), []*effect{m, t}, a.Returned.Event)
	}
	return s.outlived(a, m, t, ended)
}

// outlived explains that a went on when its key had expired.
func (s *scene) outlived(a *histories.Hold, m, t *effect, ended time.Duration) *checker.Cause {
	name := histories.WorkerName(a.Worker)
	renewals, latest := 0, m
	for _, e := range s.places[m.at][m.n+1:] {
		if e.Kind == histories.Extends && e.call.attempt == a.Attempt && e.From < ended {
			renewals, latest = renewals+1, e
		}
	}
	what := fmt.Sprintf("%s's key ended at %s", name, seconds(ended))
	if renewals == 0 {
		what += ", as nothing had extended it since " + s.Exchanges[m.Exchange].Command
	} else {
		what += fmt.Sprintf(", as nothing extended it after %s at %s", s.quote(latest), seconds(s.Exchanges[latest.Exchange].Sent))
	}
	events := []int{a.Returned.Event}
	if f := s.standing(a, m, ended); f != nil {
		what += fmt.Sprintf(" (%s at event %d)", faultName(f), f.Invoke.Index)
		events = append(events, f.Invoke.Index)
	}
	until := "and it never gave the lock back"
	if !a.Open() {
		until = fmt.Sprintf("and it relied on the lock until event %d", a.Ended.Event)
		events = append(events, a.Ended.Event)
	}
	on := []*effect{m, t}
	if latest != m {
		on = []*effect{latest, m, t}
	}
	return s.cause(checker.LeaseOutlived, what+", "+until+".", on, events...)
}

// standing is the fault of a client that may have kept a from renewing or ending its hold in time.
func (s *scene) standing(a *histories.Hold, m *effect, ended time.Duration) *histories.Op {
	for i := range s.faults {
		f := &s.faults[i]
		over := never
		if f.Done && f.Complete.Type != histories.Info {
			over = f.Complete.Time
		}
		if slices.Contains(s.ClientFaults, f.Invoke.F) && f.Invoke.Node == histories.WorkerName(a.Worker) && f.Invoke.Time < ended && over > m.From {
			return f
		}
	}
	return nil
}

// shaken says whether a fault of a server was in force between two effects.
func (s *scene) shaken(m, t *effect) bool { return s.fault(m.From, t.To, m.node()) != nil }

func (e *effect) node() string { return e.at.node }

// fault is the last fault of a server that began between two instants and may have changed what
// it holds, one of the node itself before one of any other.
func (s *scene) fault(from, to time.Duration, node string) *histories.Op {
	var found *histories.Op
	own := false
	for i := range s.faults {
		f := &s.faults[i]
		if slices.Contains(s.ClientFaults, f.Invoke.F) || !forgetful(f.Invoke.F) || f.Invoke.Time > to {
			continue
		}
		if f.Done && f.Complete.Type != histories.Info && f.Complete.Time < from || !f.Done && f.Invoke.Time < from && atOnce(f.Invoke.F) {
			continue
		}
		if is := strings.Contains(f.Invoke.Node, node); is || !own {
			found, own = f, own || is
		}
	}
	return found
}

// atOnce says whether a fault does what it does when it begins.
func atOnce(f histories.F) bool {
	return slices.Contains([]histories.F{"kill", "restart", "promote", "failover", "evict", "flush"}, f)
}

// forgetful says whether a fault of a server may take keys away.
func forgetful(f histories.F) bool {
	return f != "stall" && f != "script-flush" && f != "cut-replication"
}

// forgotten explains that a server lost a's key before its time.
func (s *scene) forgotten(a *histories.Hold, m, t *effect, expiry time.Duration) *checker.Cause {
	f := s.fault(m.From, t.To, m.at.node)
	if f == nil {
		return nil
	}
	name, until := histories.WorkerName(a.Worker), "had no end"
	if expiry != never {
		until = "was to live until " + seconds(expiry)
	}
	return s.cause(checker.ServerForgot, fmt.Sprintf("%s took %s's key away: it %s (%s at event %d), and %s at event %d found none.",
		begin(faultName(f)), name, until, s.Exchanges[m.Exchange].Command, a.Returned.Event, s.quote(t), eventOf(t)), []*effect{m, t}, f.Invoke.Index, a.Returned.Event)
}

// elsewhere explains that b was granted the lock by a server that had never had a's key.
func (s *scene) elsewhere(a *histories.Hold, m, t *effect) *checker.Cause {
	if m.at.node == t.at.node {
		return nil
	}
	f := s.fault(m.From, t.To, t.at.node)
	if f == nil {
		return nil
	}
	return s.cause(checker.ServerForgot, fmt.Sprintf("%s had its key on %s (%s at event %d), and %s had none when it answered %s at event %d: %s at event %d.",
		histories.WorkerName(a.Worker), m.at.node, s.Exchanges[m.Exchange].Command, a.Returned.Event, t.at.node, s.quote(t), eventOf(t), faultName(f), f.Invoke.Index),
		[]*effect{m, t}, f.Invoke.Index, a.Returned.Event)
}

// eventOf is the event by which an effect's call is told, or 0.
func eventOf(e *effect) int {
	if e.call.op == nil {
		return 0
	}
	return last(e.call.op)
}

func faultName(f *histories.Op) string {
	return strings.TrimSpace(string(f.Invoke.F) + " " + f.Invoke.Node)
}

// minority explains that a hold was granted without a majority of the masters.
func (s *scene) minority(h *histories.Hold, stakes []*effect) *checker.Cause {
	nodes := map[string]bool{}
	for _, e := range stakes {
		nodes[e.at.node] = true
	}
	if s.Masters < 2 || len(nodes) == 0 || 2*len(nodes) > s.Masters {
		return nil
	}
	return s.cause(checker.Minority, fmt.Sprintf("%s was granted the lock at event %d with its key on %d of %d masters, which is no majority.",
		histories.WorkerName(h.Worker), h.Returned.Event, len(nodes), s.Masters), stakes, h.Returned.Event)
}

// nothingAsked explains that a call was answered with success or refusal and sent no command.
func (s *scene) nothingAsked(o *histories.Op) *checker.Cause {
	if o == nil || !o.Done || o.Outcome() == histories.Info || s.Exchanges == nil || len(s.effectsOf(o)) > 0 || len(s.exchangesOf(o)) > 0 || s.thread(o.Invoke.Worker) {
		return nil
	}
	what := "accepted"
	if o.Outcome() == histories.Fail {
		what = "refused"
	}
	return s.cause(checker.NothingAsked, fmt.Sprintf("%s's %s at event %d was %s, and had sent no command to a server.",
		histories.WorkerName(o.Invoke.Worker), o.Invoke.F, o.Complete.Index, what), nil, o.Invoke.Index, o.Complete.Index)
}
