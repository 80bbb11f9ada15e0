package certificate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// passesBy are the rules that pass where every answer is what a lock that keeps its leases shows.
func passesBy() []string { return []string{leaseHonoured, ownership, truthfulReplies} }

// excluded are those of them that cannot fail on a key beside an explanation of it. Replies may be untrue
// in more than what explanations tell: an acquire may leave something behind on one of several masters.
func excluded() []string { return []string{leaseHonoured, ownership} }

// explained returns why explanations do not hold, or do not go together with verdicts.
func explained(t *tables, c *Certificate) error {
	told := make(map[string]bool)
	for _, e := range c.Explanations {
		k := t.byKey[e.Key]
		switch {
		case told[e.Key]:
			return fmt.Errorf("there are two explanations of %q", e.Key)
		case k == nil || !k.isLock():
			return fmt.Errorf("there is an explanation of %q, on which there are no calls", e.Key)
		}
		told[e.Key] = true
		if err := k.replay(e); err != nil {
			return fmt.Errorf("the explanation of %q: %w", e.Key, err)
		}
	}
	for _, v := range c.Proven {
		if v.Verdict == Fail && told[v.Key] && slices.Contains(excluded(), v.Rule) {
			return fmt.Errorf("%s fails on %q, and an explanation of that key says that it cannot: the judges disagree", v.Rule, v.Key)
		}
		for _, k := range t.keys {
			if v.Proof == ByExplanation && !told[k.key] && k.isLock() {
				return fmt.Errorf("verdicts pass by explanation, and there is none of %q", k.key)
			}
			if v.Proof == ByExplanation && v.Rule == truthfulReplies && k.verified() {
				return fmt.Errorf("%s passes by explanation, which tells nothing of a verify of %q", v.Rule, k.key)
			}
		}
	}
	return nil
}

// isLock reports whether there are calls on the lock of a key.
func (k *table) isLock() bool {
	return slices.ContainsFunc(k.calls, func(o *op) bool { return locks(o.F) })
}

// verified reports whether somebody asked whether the lock is still its own.
func (k *table) verified() bool {
	return slices.ContainsFunc(k.calls, func(o *op) bool { return o.F == ask })
}

// onLock are the calls on the lock of a key, in order of invocations.
func (k *table) onLock() []*op {
	other := func(o *op) bool { return !locks(o.F) }
	if !slices.ContainsFunc(k.calls, other) {
		return k.calls
	}
	return slices.DeleteFunc(slices.Clone(k.calls), other)
}

// replaying is an explanation of a key as its effects are taken.
type replaying struct {
	calls []*op
	lock  Lock
	in    effectReader
	taken int
}

// replay takes the effects of an explanation in their order, by a Lock: each when the first call is
// answered that cannot do without.
func (k *table) replay(e Explanation) error {
	r := &replaying{calls: k.onLock(), in: effectReader{left: e.Effects}}
	for _, o := range k.answers {
		for locks(o.F) && (o.granted() || o.refused()) && !o.effective {
			if err := r.take(o.to); err != nil {
				return fmt.Errorf("event %d: %w", o.to.event, err)
			}
		}
	}
	if r.taken != e.Calls || len(r.in.left) > 0 {
		return fmt.Errorf("it tells of %d calls, and %d took effect; %d bytes are left", e.Calls, r.taken, len(r.in.left))
	}
	return nil
}

// take lets the next effect come about, which must be possible by the answer to a call.
func (r *replaying) take(now moment) error {
	if len(r.in.left) == 0 {
		return errors.New("the call is answered, and did not take effect")
	}
	e, err := r.in.next()
	if err != nil {
		return err
	}
	r.taken++
	if e.Call < 0 || e.Call >= int64(len(r.calls)) || r.calls[e.Call].effective {
		return fmt.Errorf("call %d takes effect, and is none, or did before", e.Call)
	}
	o := r.calls[e.Call]
	switch {
	case o.from.event > now.event || o.to.event < now.event && o.outcome != histories.Info:
		return fmt.Errorf("call %d takes effect before it was invoked, or when it was answered", e.Call)
	case e.Done == o.refused() || o.outcome == histories.Fail && !o.refused():
		return fmt.Errorf("call %d takes effect as if it had been answered otherwise", e.Call)
	case e.At < o.from.time || e.At > now.time:
		return fmt.Errorf("call %d takes effect at %d, want from its invocation at %d to the answer at %d", e.Call, e.At, o.from.time, now.time)
	case e.Token != o.grantedToken():
		return fmt.Errorf("call %d has the token %d, want %d", e.Call, e.Token, o.grantedToken())
	}
	if at, ok := r.lock.When(&o.Call, e.Done, e.At); !ok || at != e.At {
		return fmt.Errorf("call %d (%s of attempt %d) cannot be answered so at %d", e.Call, o.F, o.Attempt, e.At)
	}
	if !r.lock.Issue(&o.Call, e.Token) {
		return fmt.Errorf("call %d is granted the token %d, which is not higher than those before", e.Call, e.Token)
	}
	r.lock.Take(&o.Call, e.Done, e.At)
	o.effective = true
	return nil
}

// grantedToken is the token that an acquire was granted, 0 if it was none.
func (o *op) grantedToken() int64 {
	if o.F != acquire || !o.granted() {
		return 0
	}
	return o.issued
}
