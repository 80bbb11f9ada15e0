package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// Fencing is what judgeFencing judges.
const Fencing Property = "fencing"

func fencingSpec() spec {
	return spec{
		property:   Fencing,
		definition: "a later acquire has a higher token, and the resource accepts no write with a lower token than it has seen (locks with tokens)",
		judge:      judgeFencing,
		concerns:   fenced,
		engine:     "token order",
		counts:     []histories.F{histories.Acquire, histories.Read, histories.Write, histories.Incr, histories.Draw},
	}
}

// judgeFencing judges fencing: the tokens that a lock issues can tell an old holder from a
// new one, and the resource tells them apart.
//
//  1. If one acquire of a key returned before another was invoked, the later one has the
//     higher token. Of two that overlap, so has the one that must have been granted later:
//     had it been first, its lease would have been in force when the other was granted.
//     (No server may have failed meanwhile, nor may either have been let in beside somebody.)
//  2. No two acquires of a key have the same token.
//  3. The resource's accept order never goes down: no write is accepted with a lower token
//     than that of an access before it. The versions of a register tell the order; of
//     increments, only that one returned before the other was invoked.
//
// Attempts that may share a key, those of readers and the re-entries of one worker, may
// also share a token; between them it must not go down. What a worker enters when it has given
// back all that it had is no re-entry. An acquire of unknown outcome told
// no token and takes no part, nor does a token of 0.
//
// Whether the third rule was broken by the lock or by a resource that does not look at
// tokens is not told apart. The property concerns only histories with tokens, and passes
// only if two acquires with tokens came one after the other.
func judgeFencing(*record, Options) judge {
	return &fencing{tops: make(map[string]highest), registers: make(ledgers), counters: make(tallies)}
}

type fencing struct {
	tops      map[string]highest // by key: of the holds that had returned before those of the next stretch were asked for
	registers ledgers
	counters  tallies

	ordered int
	down    conflicts
	either  string // of what something else explains as well, if so
}

func (j *fencing) observe(_ context.Context, s *stretch) error {
	var issued, entered []*histories.Hold
	for _, h := range s.holds {
		if h.Mode == histories.Reentrant {
			entered = append(entered, h)
		}
		if h.Outcome == histories.OK && h.Token != 0 {
			issued = append(issued, h)
		}
	}
	stayOf := stays(entered, s.number)
	ordered, bad := issuedDown(s, issued, j.tops[s.key], stayOf)
	if len(bad) == 0 {
		bad = drawnApart(s, issued)
	}
	j.ordered += ordered
	top := j.tops[s.key]
	for _, h := range issued {
		if h.Returned.Event < s.settled {
			top = top.with(h, stayOf(h))
		}
	}
	j.tops[s.key] = top
	bad, either := s.weigh(Fencing, bad)
	j.down.add(s, bad...)
	j.either = cmp.Or(j.either, either)
	j.down.take(j.acceptedDown(s))
	return nil
}

func (j *fencing) verdict(res *finding) error {
	switch {
	case j.down.n > 0:
		res.prove(j.down.first, strings.TrimSuffix(j.down.first.story, ".")+".")
		if j.down.n > 1 {
			res.Story = paragraph(res.Story, fmt.Sprintf("In all, tokens told the wrong order or none %s.", words.Times(j.down.n)))
		}
	case j.either != "":
		res.Story = j.either
	case j.ordered == 0:
		res.Story = "No two acquires with tokens came one after the other, so the order of tokens was not tested."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("%s got a higher token than any before it, and nothing was accepted with a lower one than had been seen.", words.Count(j.ordered, "acquire"))
	}
	return nil
}

// fenced concerns histories in which somebody has a token.
func fenced(rec *record) bool {
	return rec.fenced
}

// issuedDown looks for tokens of one key that do not go up. Holds come in order of
// invocations; top are those of earlier stretches. It also returns how many of them were invoked after
// another had returned.
func issuedDown(s *stretch, holds []*histories.Hold, top highest, stayOf func(*histories.Hold) stay) (ordered int, found []*conflict) {
	returned := slices.SortedFunc(slices.Values(holds), func(a, b *histories.Hold) int { return a.Returned.Event - b.Returned.Event })
	byToken := make(map[int64]*histories.Hold)
	i := 0
	for _, h := range holds {
		for ; i < len(returned) && returned[i].Returned.Event < h.Invoked.Event; i++ {
			top = top.with(returned[i], stayOf(returned[i]))
		}
		if top.first != nil && s.mine(h.Returned.Event) {
			ordered++
		}
		twin := byToken[h.Token]
		switch rival := top.of(stayOf(h)); {
		case top.first != nil && top.first.Token > h.Token:
			found = append(found, tokenConflict(top.first, h, "lower than"))
		case rival != nil && rival.Token >= h.Token:
			found = append(found, tokenConflict(rival, h, "not higher than"))
		case twin != nil && stayOf(twin) != stayOf(h):
			found = append(found, tokenConflict(twin, h, "the same as"))
		}
		if twin == nil {
			byToken[h.Token] = h
		}
	}
	return ordered, found
}

// drawnApart looks for tokens of one key that do not go up in the order of holding, where the acquires overlap: of a token that was drawn
// before its acquire was granted, or after it.
func drawnApart(s *stretch, holds []*histories.Hold) (found []*conflict) {
	rivals := &contest{stretch: s}
	returned := slices.SortedFunc(slices.Values(holds), func(a, b *histories.Hold) int { return a.Returned.Event - b.Returned.Event })
	for i, h := range returned {
		for _, before := range slices.Backward(returned[:i]) {
			if before.Returned.Event < h.Invoked.Event {
				break
			}
			if before.Shares(*h) || before.Token == h.Token || s.serverFaults().meets(between(min(before.Invoked.Event, h.Invoked.Event), h.Returned.Event)) {
				continue
			}
			first, second := before, h
			if before.Token < h.Token {
				first, second = h, before
			}
			if rivals.precedes(first, second) && !rivals.clashes(first) && !rivals.clashes(second) {
				found = append(found, tokenConflict(first, second, "lower than"))
				break
			}
		}
	}
	return found
}

// precedes reports whether of two holds, whose acquires overlap, a was granted first: had b been, its lease would have been in force
// when a was granted, whenever that was.
func (c *contest) precedes(a, b *histories.Hold) bool {
	by := a.Returned.Event
	if c.follows(a, b) || !c.follows(b, a) || c.leases.shared(b) || c.leases.overdrawn(b) <= by {
		return false
	}
	return !c.touched(b, max(by, b.Returned.Event), a.Attempt) && (b.Returned.Event > by || !c.denied(b, by))
}

func tokenConflict(before, h *histories.Hold, relation string) *conflict {
	return &conflict{
		witness: []int{before.Returned.Event, h.Returned.Event}, called: []called{acquired(before)},
		story: fmt.Sprintf("%s was granted %s with token %d at %s, and %s, whose acquire began at %s, with token %d at %s, which is %s that.",
			histories.WorkerName(before.Worker), before.Key, before.Token, words.Seconds(before.Returned.Time),
			histories.WorkerName(h.Worker), words.Seconds(h.Invoked.Time), h.Token, words.Seconds(h.Returned.Time), relation),
	}
}

// highest is which holds have the highest token: of all, and of all other stays than
// that one's.
type highest struct {
	first, rival *histories.Hold
	stay         stay // of the first
}

// of is the hold with the highest token of those that do not belong to a stay, or nil.
func (t highest) of(s stay) *histories.Hold {
	if t.first != nil && t.stay == s {
		return t.rival
	}
	return t.first
}

func (t highest) with(h *histories.Hold, of stay) highest {
	switch {
	case t.first == nil:
		return highest{h, nil, of}
	case h.Token > t.first.Token && t.stay == of:
		t.first = h
	case h.Token > t.first.Token:
		return highest{h, t.first, of}
	case t.stay != of && (t.rival == nil || h.Token > t.rival.Token):
		t.rival = h
	}
	return t
}

// A stay is a party as long as it may have the key. A worker that has given back all that it had
// entered, and enters again, begins another.
type stay struct {
	party
	stretch, n int
}

// stays returns to which stay a hold of a stretch of a key belongs. The holds that re-entered come in
// order of invocations. At the end of a stretch everybody has given back what he had.
func stays(holds []*histories.Hold, stretch int) func(*histories.Hold) stay {
	type entered struct {
		n     int
		until int // event at which the last of its holds was given back; unknown if one may be in force
	}
	of := make(map[uint64]int) // by attempt
	workers := make(map[int]*entered)
	for _, h := range holds {
		w := workers[h.Worker]
		if w == nil {
			w = &entered{}
			workers[h.Worker] = w
		}
		if w.until < h.Invoked.Event {
			w.n++
			w.until = 0
		}
		of[h.Attempt] = w.n
		w.until = max(w.until, givenBack(h))
	}
	return func(h *histories.Hold) stay {
		if h.Mode != histories.Reentrant {
			return stay{party: partyOf(h)}
		}
		return stay{partyOf(h), stretch, of[h.Attempt]}
	}
}

// acceptedDown looks for accesses that a resource accepted with a lower token than it had
// seen.
func (j *fencing) acceptedDown(s *stretch) conflicts {
	if r := newRegister(s, j.registers); r != nil {
		r.tokens()
		return r.stale
	}
	if s.counter {
		return newCounter(s, j.counters).tokenDown()
	}
	return conflicts{}
}

// tokenDown are the increments that were accepted with a lower token than that of an
// access that had returned before it was invoked.
func (c *counter) tokenDown() (down conflicts) {
	var accepted []*histories.Op
	for _, o := range c.accesses {
		if o.Outcome() == histories.OK && token(o) > 0 {
			accepted = append(accepted, o)
		}
	}
	returned := slices.SortedFunc(slices.Values(accepted), func(a, b *histories.Op) int { return a.Complete.Index - b.Complete.Index })
	i := 0
	raise := func(by int) {
		for ; i < len(returned) && returned[i].Complete.Index < by; i++ {
			if top := c.past.shown; top == nil || token(returned[i]) > token(top) {
				c.past.shown = returned[i]
			}
		}
	}
	defer raise(c.to)
	for _, o := range accepted {
		raise(o.Invoke.Index)
		before := c.past.shown
		if before == nil || o.Invoke.F != histories.Incr || token(o) >= token(before) {
			continue
		}
		down.add(c.stretch, &conflict{
			witness: []int{before.Complete.Index, o.Complete.Index}, called: []called{calledBy(before)},
			story: fmt.Sprintf("%s's increment of %s with token %d was accepted at %s although %s had shown token %d before it began, at %s",
				histories.WorkerName(o.Invoke.Worker), c.key, token(o), words.Seconds(o.Complete.Time),
				histories.WorkerName(before.Invoke.Worker), token(before), words.Seconds(before.Complete.Time)),
		})
	}
	return down
}
