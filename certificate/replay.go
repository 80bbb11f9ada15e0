package certificate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// replay holds explanations against the history as it is read: of each key, the effects of calls are
// taken in their order by a Lock. An effect is taken when the first call is answered that cannot do
// without.
type replay struct {
	keys   map[string]*keyReplay
	byCall map[int]*pending // calls on explained keys that are open, by process
	passes bool             // some verdict needs an explanation of every key
	bare   string           // a key that has none, if bareKey
	isBare bool
}

// keyReplay is the explanation of one key.
type keyReplay struct {
	explanation Explanation
	lock        Lock
	in          effectReader
	calls       int64 // invoked so far
	effects     int   // taken so far
	pending     map[int64]*pending
	spare       []*pending
}

// pending is a call that has not taken effect, or is not answered.
type pending struct {
	key    *keyReplay
	number int64
	invoke histories.Event
	effect Effect
	taken  bool // it took effect
}

// passesBy are the rules that pass where every answer is what a lock that keeps its leases shows.
func passesBy() []string { return []string{leaseHonoured, ownership, truthfulReplies} }

// excluded are those of them that cannot fail on a key beside an explanation of it. Replies may be untrue
// in more than what explanations tell: an acquire may leave something behind on one of several masters.
func excluded() []string { return []string{leaseHonoured, ownership} }

func newReplay(c Certificate) (*replay, error) {
	r := &replay{keys: make(map[string]*keyReplay), byCall: make(map[int]*pending)}
	for _, e := range c.Explanations {
		if r.keys[e.Key] != nil {
			return nil, fmt.Errorf("there are two explanations of %q", e.Key)
		}
		r.keys[e.Key] = &keyReplay{explanation: e, in: effectReader{left: e.Effects}, pending: make(map[int64]*pending)}
	}
	for _, v := range c.Proven {
		switch {
		case v.Proof == ByExplanation:
			r.passes = true
		case r.keys[v.Key] != nil && slices.Contains(excluded(), v.Rule):
			return nil, fmt.Errorf("%s fails on %q, and an explanation of that key says that it cannot: the judges disagree", v.Rule, v.Key)
		}
	}
	return r, nil
}

// invoked takes an invocation.
func (r *replay) invoked(e *histories.Event) error {
	if !locks(e.F) {
		return nil
	}
	k := r.keys[e.Key]
	if k == nil {
		r.bare, r.isBare = e.Key, true
		return nil
	}
	p := k.room()
	*p = pending{key: k, number: k.calls, invoke: *e}
	k.calls++
	k.pending[p.number] = p
	r.byCall[e.Process] = p
	return nil
}

// room returns a pending that nobody has.
func (k *keyReplay) room() *pending {
	if last := len(k.spare) - 1; last >= 0 {
		p := k.spare[last]
		k.spare = k.spare[:last]
		return p
	}
	return new(pending)
}

// answered takes the answer to a call.
func (r *replay) answered(c *call) error {
	p := r.byCall[c.invoke.Process]
	if p == nil || !locks(c.invoke.F) {
		return nil
	}
	delete(r.byCall, c.invoke.Process)
	if err := p.answered(&c.answer); err != nil {
		return fmt.Errorf("the explanation of %q: event %d: %w", c.invoke.Key, c.answer.Index, err)
	}
	return nil
}

func (p *pending) answered(answer *histories.Event) error {
	done, refusal := answer.Type == histories.OK, refused(answer)
	for !p.taken && (done || refusal) {
		if err := p.key.take(answer.Time); err != nil {
			return err
		}
	}
	e := &p.effect
	switch {
	case !p.taken && answer.Type == histories.Info:
		return nil // it may take effect later
	case !p.taken:
	case e.Done && answer.Type == histories.Fail, !e.Done && !refusal:
		return fmt.Errorf("the call took effect as if it had been answered otherwise than by %s", answer.Type)
	case done && p.invoke.F == histories.Acquire && e.Token != answer.Token:
		return fmt.Errorf("it has the token %d, and the explanation says %d", answer.Token, e.Token)
	}
	delete(p.key.pending, p.number)
	p.key.spare = append(p.key.spare, p)
	return nil
}

// take takes the next effect, which must be possible by now.
func (k *keyReplay) take(now time.Duration) error {
	if len(k.in.left) == 0 {
		return errors.New("the call is answered, and did not take effect")
	}
	e, err := k.in.next()
	if err != nil {
		return err
	}
	k.effects++
	p := k.pending[e.Call]
	switch {
	case p == nil || p.taken:
		return fmt.Errorf("call %d takes effect before it was invoked, or when it was answered, or twice", e.Call)
	case e.At < p.invoke.Time || e.At > now:
		return fmt.Errorf("call %d takes effect at %d, want from its invocation at %d to the answer at %d", e.Call, e.At, p.invoke.Time, now)
	case e.Token != 0 && (p.invoke.F != histories.Acquire || !e.Done):
		return fmt.Errorf("call %d has a token, and is no grant", e.Call)
	}
	if at, ok := k.lock.When(&p.invoke, e.Done, e.At); !ok || at != e.At {
		return fmt.Errorf("call %d (%s of attempt %d) cannot be answered so at %d", e.Call, p.invoke.F, p.invoke.Attempt, e.At)
	}
	if !k.lock.Issue(&p.invoke, e.Token) {
		return fmt.Errorf("call %d is granted the token %d, which is not higher than those before", e.Call, e.Token)
	}
	k.lock.Take(&p.invoke, e.Done, e.At)
	p.effect, p.taken = e, true
	return nil
}

// end is called after the last event.
func (r *replay) end() error {
	for _, k := range r.keys {
		if k.effects != k.explanation.Calls || len(k.in.left) > 0 {
			return fmt.Errorf("the explanation of %q tells of %d calls, and %d took effect; %d bytes are left",
				k.explanation.Key, k.explanation.Calls, k.effects, len(k.in.left))
		}
		if k.calls == 0 {
			return fmt.Errorf("there is an explanation of %q, on which there are no calls", k.explanation.Key)
		}
	}
	if r.passes && r.isBare {
		return fmt.Errorf("verdicts pass by explanation, and there is none of %q", r.bare)
	}
	return nil
}

// pass is the proof of a pass by explanation, which the replay gives.
type pass struct{}

func newPass(v *Verdict) (proof, error) {
	if v.Verdict != Pass || v.Key != "" || len(v.Attempts) > 0 || len(v.Events) > 0 || len(v.Bounds) > 0 {
		return nil, fmt.Errorf("a proof of the kind %q is of a pass, of all keys, and names nothing", v.Proof)
	}
	switch v.Proof {
	case ByBeliefs:
		return newBeliefs(v), nil
	case ByVersions:
		return newVersions(), nil
	}
	return pass{}, nil
}

func (pass) event(*histories.Event)   {}
func (pass) answered(*call)           {}
func (pass) bounds() ([]Bound, error) { return nil, nil }
