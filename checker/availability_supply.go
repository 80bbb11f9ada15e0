package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// supply is who may have had one key on its servers, and who asked for it.
type supply struct {
	*stretch
	asked []*histories.Op // acquires, in order of invocations
	taken []taking        // in order of starts
	sick  []span          // faults and what they leave behind
	lease time.Duration   // the longest asked for

	shared bool // somebody would share it
}

func newSupply(of *stretch, opt Options) *supply {
	s := &supply{stretch: of, asked: of.acquires(), taken: of.past(opt.slack())}
	for _, o := range s.asked {
		s.lease = max(s.lease, o.Invoke.TTL)
	}
	for _, h := range s.holds {
		s.taken = append(s.taken, taking{takenBy(of, h, opt.slack()), h})
		for _, x := range h.Extends { // an extend may ask for more than any acquire
			s.lease = max(s.lease, x.TTL)
		}
		for _, x := range h.Unknown {
			s.lease = max(s.lease, x.TTL)
		}
	}
	return s
}

// A taking is the span in which some server may hold a hold.
type taking struct {
	span
	hold *histories.Hold // nil: somebody's, in an earlier stretch
}

// past is what had the key in earlier stretches.
func (s *stretch) past(slack time.Duration) []taking {
	if s.number == 0 {
		return nil
	}
	all := []taking{{span: span{0, at(s.lo)}}}
	for _, h := range s.ghosts {
		all = append(all, taking{takenBy(s, h, slack), h})
	}
	return all
}

// takenBy is the span in which some server may hold h.
func takenBy(st *stretch, h *histories.Hold, slack time.Duration) span {
	s := span{at(h.Invoked.Event), never}
	if r, ok := accepted(h); ok {
		s.to = at(r.Returned.Event)
		return s
	}
	if end := mayRunUntil(h, slack); end != forever {
		s.to = st.gap(end)
	}
	return s
}

// disturb notes the spans of faults and of what they leave behind.
func (s *supply) disturb(slack time.Duration) {
	for _, f := range s.ill {
		sick := span{at(f.Invoke.Index), never}
		if healed(f) && s.lease > 0 {
			sick.to = s.gap(plus(f.Complete.Time, plus(s.lease, slack)))
		}
		s.sick = append(s.sick, sick)
	}
}

// free returns which of the calls found the key certainly free during all of them, with
// nobody else wanting it.
func (s *supply) free(slack time.Duration) []bool {
	return s.alone(s.wanted(slack), false)
}

// open is free, but to a reader the key is free if no writer has it or wants it.
func (s *supply) open(slack time.Duration) []bool {
	wanted := s.wanted(slack)
	free := s.alone(wanted, false)
	if slices.ContainsFunc(s.asked, reads) {
		for i, alone := range s.alone(wanted, true) {
			free[i] = free[i] || alone && reads(s.asked[i])
		}
	}
	return free
}

func reads(o *histories.Op) bool { return o.Invoke.Mode() == histories.Shared }

// alone is free, of all or, for readers, of those who are no readers.
func (s *supply) alone(wanted []rank, readers bool) []bool {
	free := make([]bool, len(s.asked))
	next := make([]rank, len(s.asked)) // when somebody who is in the way calls
	latest := never
	for i, o := range slices.Backward(s.asked) {
		next[i] = latest
		if !readers || !reads(o) {
			latest = at(o.Invoke.Index)
		}
	}
	var taken rank        // until when somebody may have it
	var most, others rank // until when somebody wants it, and somebody else than that one
	by, t, sick := -1, 0, newCover(s.sick)
	for i, o := range s.asked {
		call := s.calling(o)
		for ; t < len(s.taken) && s.taken[t].from < call.to; t++ {
			if h := s.taken[t].hold; !readers || h == nil || h.Mode != histories.Shared {
				taken = max(taken, s.taken[t].to)
			}
		}
		asked := most
		if by == o.Invoke.Worker {
			asked = others
		}
		free[i] = next[i] >= call.to && asked < call.from && taken < call.from && !sick.meets(call)
		switch {
		case readers && reads(o):
		case by == o.Invoke.Worker:
			most = max(most, wanted[i])
		case wanted[i] > most:
			most, others, by = wanted[i], most, o.Invoke.Worker
		default:
			others = max(others, wanted[i])
		}
	}
	return free
}

// wanted is until when the client that made each call waits for the key: until it is
// granted, but no longer than a lease and the slack after it was refused.
func (s *supply) wanted(slack time.Duration) []rank {
	until := make([]rank, len(s.asked))
	granted := make(map[int]rank) // by worker, the next
	for i, o := range slices.Backward(s.asked) {
		call := s.calling(o)
		until[i] = call.to
		if o.Outcome() == histories.OK {
			granted[o.Invoke.Worker] = call.to
			continue
		}
		if end, over := s.over(o); over && s.lease > 0 {
			until[i] = s.gap(plus(end.Time, plus(s.lease, slack)))
		}
		if next, ok := granted[o.Invoke.Worker]; ok {
			until[i] = max(call.to, min(until[i], next))
		}
	}
	return until
}

// tellRefused tells of a refusal that was wrong.
func (s *supply) tellRefused(o *histories.Op) string {
	who := histories.WorkerName(o.Invoke.Worker)
	if reads(o) {
		return fmt.Sprintf("%s was refused %s for reading at %s although no writer had it and none wanted it.", who, o.Invoke.Key, words.Seconds(o.Complete.Time))
	}
	return fmt.Sprintf("%s was refused %s at %s although nobody had it and nobody else wanted it: %s.", who, o.Invoke.Key, words.Seconds(o.Complete.Time), s.since(o))
}

// since tells since when the key had been free.
func (s *supply) since(o *histories.Op) string {
	n := s.before
	for _, t := range s.taken {
		if t.hold != nil && !slices.Contains(s.ghosts, t.hold) && t.to < at(o.Invoke.Index) {
			n++
		}
	}
	if n == 0 && s.number == 0 {
		return "nobody had been granted it before"
	}
	return fmt.Sprintf("all %s of it before had ended on every server", words.Count(n, "hold"))
}
