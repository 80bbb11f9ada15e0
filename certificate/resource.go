package certificate

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/lockbench/lockbench/histories"
)

// tokens proves that of two acquires the later did not get a higher token: one that was invoked when
// the first had returned, or, if they have the same token, any.
type tokens struct {
	v     *Verdict
	calls answers // first, second
}

func newTokens(v *Verdict) (proof, error) {
	at, err := roles(v, "first", "second")
	if err != nil {
		return nil, err
	}
	return &tokens{v, newAnswers(at...)}, nil
}

func (t *tokens) event(*histories.Event) {}
func (t *tokens) answered(c *call)       { t.calls.take(c) }

func (t *tokens) bounds() ([]Bound, error) {
	calls, err := t.calls.accepted(t.v)
	if err != nil {
		return nil, err
	}
	first, second := &calls[0], &calls[1]
	a, b := first.answer.Token, second.answer.Token
	switch {
	case first.invoke.F != histories.Acquire || second.invoke.F != histories.Acquire || a == 0 || b == 0:
		return nil, errors.New("the events are not those of two acquires with tokens")
	case shares(&first.invoke, &second.invoke) && a == b:
		return nil, errors.New("the attempts may share the key, and so a token")
	}
	bounds := []Bound{most("token of the second", b, "token of the first", a)}
	if a != b {
		bounds = append(bounds, less("return of the first", first.answer.Index, "invocation of the second", second.invoke.Index))
	} else {
		bounds = append(bounds, less("return of the first", first.answer.Index, "return of the second", second.answer.Index))
	}
	return bounds, of(t.v, *first, *second)
}

// writes says whether an operation makes a version of a register.
func writes(f histories.F) bool { return f == histories.Write || f == histories.Draw }

// accesses says whether an operation shows a version of a register.
func accesses(f histories.F) bool { return f == histories.Read || writes(f) }

// left is the version that an accepted access of a register left behind.
func left(c *call) int64 {
	if writes(c.invoke.F) {
		return c.answer.Version + 1
	}
	return c.answer.Version
}

// token is the fencing token that an access carried.
func token(c *call) int64 { return cmp.Or(c.answer.Token, c.invoke.Token) }

// stale proves that a write was accepted with a lower token than the resource had seen. The versions of
// a register tell that it was before, and of a counter that it returned before.
type stale struct {
	v     *Verdict
	calls answers // shown, write
}

func newStale(v *Verdict) (proof, error) {
	at, err := roles(v, "shown", "write")
	if err != nil {
		return nil, err
	}
	return &stale{v, newAnswers(at...)}, nil
}

func (s *stale) event(*histories.Event) {}
func (s *stale) answered(c *call)       { s.calls.take(c) }

func (s *stale) bounds() ([]Bound, error) {
	calls, err := s.calls.accepted(s.v)
	if err != nil {
		return nil, err
	}
	shown, write := &calls[0], &calls[1]
	bounds := []Bound{
		less("no token", 0, "token of the write", token(write)),
		less("token of the write", token(write), "token that was shown", token(shown)),
	}
	switch {
	case accesses(shown.invoke.F) && writes(write.invoke.F):
		bounds = append(bounds, most("version that was left", left(shown), "version that was replaced", write.answer.Version))
	case (shown.invoke.F == histories.Incr || shown.invoke.F == histories.Read) && write.invoke.F == histories.Incr && s.v.Rule == fencing:
		bounds = append(bounds, less("return of the access", shown.answer.Index, "invocation of the increment", write.invoke.Index))
	default:
		return nil, fmt.Errorf("a %s and a %s prove nothing of tokens", shown.invoke.F, write.invoke.F)
	}
	return bounds, of(s.v, *shown, *write)
}

// unseen proves that an accepted access of an attempt found a version which that had neither seen nor
// written: more versions had come since what it saw last than it has writes of unknown outcome, or one
// of them is another's.
type unseen struct {
	v     *Verdict
	calls answers // seen, access, and other if there is one
	own   int64   // writes of the attempt of unknown outcome before the access
	open  map[int]bool
	later int // the last accepted access of the attempt that was invoked before access, 0: none
}

func newUnseen(v *Verdict) (proof, error) {
	want := []string{"seen", "access"}
	if len(v.Events) > len(want) {
		want = append(want, "other")
	}
	at, err := roles(v, want...)
	if err != nil {
		return nil, err
	}
	return &unseen{v: v, calls: newAnswers(at...), open: make(map[int]bool)}, nil
}

func (u *unseen) mine(e *histories.Event) bool {
	return len(u.v.Attempts) > 0 && e.Attempt == u.v.Attempts[0] && e.Key == u.v.Key && accesses(e.F)
}

func (u *unseen) event(e *histories.Event) {
	if u.mine(e) && e.Type == histories.Invoke && writes(e.F) && e.Index < u.calls.wanted[1] {
		u.open[e.Process] = true
	}
}

func (u *unseen) answered(c *call) {
	u.calls.take(c)
	if !u.mine(&c.invoke) {
		return
	}
	if u.open[c.invoke.Process] && c.answer.Type == histories.Info {
		u.own++
	}
	delete(u.open, c.invoke.Process)
	if c.answer.Type == histories.OK && c.answer.Index < u.calls.wanted[1] {
		u.later = c.answer.Index
	}
}

func (u *unseen) bounds() ([]Bound, error) {
	calls, err := u.calls.accepted(u.v)
	if err != nil {
		return nil, err
	}
	seen, access := &calls[0], &calls[1]
	switch {
	case !accesses(seen.invoke.F) || !accesses(access.invoke.F) || seen.invoke.Attempt != access.invoke.Attempt:
		return nil, errors.New("the events are not those of two accesses of one attempt")
	case u.later != seen.answer.Index:
		return nil, fmt.Errorf("the access before event %d that the attempt saw last is event %d", access.answer.Index, u.later)
	}
	bounds := []Bound{less("return of what was seen", seen.answer.Index, "invocation of the access", access.invoke.Index)}
	if len(calls) == 2 {
		own := u.own + int64(len(u.open))
		return append(bounds, less("writes of its own of unknown outcome", own, "versions since", access.answer.Version-left(seen))), of(u.v, *seen)
	}
	other := &calls[2]
	if !writes(other.invoke.F) || other.invoke.Attempt == seen.invoke.Attempt {
		return nil, fmt.Errorf("event %d accepts no write of another attempt", other.answer.Index)
	}
	return append(bounds,
		less("version that was seen", left(seen), "version of the other's write", left(other)),
		most("version of the other's write", left(other), "version that was found", access.answer.Version),
	), of(u.v, *seen, *other)
}

// twins proves that two increments brought a counter to one number, or that two drew the prize of one
// round.
type twins struct {
	v     *Verdict
	calls answers // first, second
}

func newTwins(v *Verdict) (proof, error) {
	at, err := roles(v, "first", "second")
	if err != nil {
		return nil, err
	}
	return &twins{v, newAnswers(at...)}, nil
}

func (t *twins) event(*histories.Event) {}
func (t *twins) answered(c *call)       { t.calls.take(c) }

func (t *twins) bounds() ([]Bound, error) {
	calls, err := t.calls.accepted(t.v)
	if err != nil {
		return nil, err
	}
	first, second := &calls[0], &calls[1]
	bounds := []Bound{less("return of the first", first.answer.Index, "return of the second", second.answer.Index)}
	switch {
	case t.v.Rule == counterSafety && first.invoke.F == histories.Incr && second.invoke.F == histories.Incr:
		a, err := number(first)
		if err != nil {
			return nil, err
		}
		b, err := number(second)
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, Bound{"number of the first", a, "=", "number of the second", b})
	case t.v.Rule == singleWinner && first.invoke.F == histories.Draw && second.invoke.F == histories.Draw:
		if first.invoke.Value != second.invoke.Value {
			return nil, fmt.Errorf("they are draws of the rounds %q and %q", first.invoke.Value, second.invoke.Value)
		}
	default:
		return nil, fmt.Errorf("a %s and a %s prove nothing of this rule", first.invoke.F, second.invoke.F)
	}
	return bounds, of(t.v, *first, *second)
}

// number is what an increment brought the counter to, or what a read of it saw.
func number(c *call) (int64, error) {
	n, err := strconv.ParseInt(c.answer.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("event %d shows %q, want a number", c.answer.Index, c.answer.Value)
	}
	return n, nil
}

// missing proves that a counter showed less than an increment before had brought it to.
type missing struct {
	v     *Verdict
	calls answers // peak, look
}

func newMissing(v *Verdict) (proof, error) {
	at, err := roles(v, "peak", "look")
	if err != nil {
		return nil, err
	}
	return &missing{v, newAnswers(at...)}, nil
}

func (m *missing) event(*histories.Event) {}
func (m *missing) answered(c *call)       { m.calls.take(c) }

func (m *missing) bounds() ([]Bound, error) {
	calls, err := m.calls.accepted(m.v)
	if err != nil {
		return nil, err
	}
	peak, look := &calls[0], &calls[1]
	if peak.invoke.F != histories.Incr || look.invoke.F != histories.Incr && look.invoke.F != histories.Read {
		return nil, errors.New("the events are not those of an increment and of a look at its counter")
	}
	reached, err := number(peak)
	if err != nil {
		return nil, err
	}
	found, err := number(look)
	if err != nil {
		return nil, err
	}
	if look.invoke.F == histories.Incr {
		found-- // it counted itself
	}
	return []Bound{
		less("return of the increment", peak.answer.Index, "invocation of the look", look.invoke.Index),
		less("number that was found", found, "number that was reached", reached),
	}, of(m.v, *peak, *look)
}
