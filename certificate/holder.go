package certificate

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A holder is an attempt that is said to have had its key from an event through another.
type holder struct {
	rule    string
	attempt uint64
	held    int // the answer that granted it, or extended it
	through int

	asked   histories.Event // zero until then
	ended   int             // the first event that ended it, 0: none
	given   bool            // its client had walked away or crashed, which ends no lease
	proof   call            // of the grant, once that was answered
	end     time.Duration   // of the deadline that was told, or of the lease; forever if there is none
	lapsed  int             // the first event at which it was over, 0: none
	time    time.Duration   // of the event through
	grants  map[int]*grant  // that are open, by process
	counted *grant          // that of proof
	unknown time.Duration   // the shortest TTL of those of unknown outcome so far, 0: none
}

// A grant is an acquire or an extend that gave, or may have given, the key a time to live.
type grant struct {
	invoke histories.Event
	ttl    time.Duration
	loose  time.Duration // the shortest TTL of those invoked before it that may have had their effect after it, 0: none
	until  time.Duration // the earliest end of a lease by those invoked after it
}

func newHolder(v *Verdict, attempt uint64, held, through int) *holder {
	return &holder{rule: v.Rule, attempt: attempt, held: held, through: through, end: forever, grants: make(map[int]*grant)}
}

func (h *holder) event(e *histories.Event) {
	if e.Index > h.through || e.Process < 0 {
		return
	}
	if e.Index == h.through {
		h.time = e.Time
	}
	mine := e.Attempt == h.attempt
	known := h.asked.F == histories.Acquire
	switch {
	case mine && !known && e.F == histories.Acquire && e.Type == histories.Invoke:
		h.asked = *e
		h.begin(e)
	case mine && known && e.F == histories.Extend && e.Type == histories.Invoke:
		h.begin(e)
	case known && ends(e) && (mine || e.F == histories.Crash && e.Worker == h.asked.Worker):
		h.stop(e)
	}
	if h.rule == leaseExclusion && h.proof.granted() && e.Time >= h.end && h.lapsed == 0 {
		h.lapsed = e.Index
	}
}

// stop notes what ends the attempt. A lease ends when the lock may have given the key away with
// reason, a belief also when its client walks away or crashes.
func (h *holder) stop(e *histories.Event) {
	left := e.F == histories.Abandon || e.F == histories.Crash
	if h.ended == 0 && (h.rule != leaseHonoured || !left && (e.F == histories.Release || !h.given)) {
		h.ended = e.Index
	}
	h.given = h.given || left
}

func (h *holder) begin(e *histories.Event) {
	g := &grant{invoke: *e, ttl: e.TTL, loose: h.unknown, until: forever}
	if e.F == histories.Extend && g.ttl == 0 {
		g.ttl = h.asked.TTL
	}
	h.grants[e.Process] = g
}

func (h *holder) answered(c *call) {
	if c.invoke.Attempt != h.attempt {
		return
	}
	g := h.grants[c.invoke.Process]
	delete(h.grants, c.invoke.Process)
	switch {
	case g == nil:
	case c.answer.Index == h.held && c.granted():
		h.proof, h.counted = *c, g
		if c.answer.Deadline > 0 {
			h.end = c.answer.Deadline
		}
		if h.rule == leaseExclusion && c.answer.Time >= h.end {
			h.lapsed = c.answer.Index
		}
	case c.answer.Type == histories.Fail:
	default:
		h.other(g, c)
	}
}

// other takes a grant besides the one that is counted from, which had its effect or may have had it.
func (h *holder) other(g *grant, c *call) {
	if c.answer.Type == histories.Info {
		h.unknown = shorter(h.unknown, g.ttl)
	}
	for _, open := range h.grants {
		open.against(g)
	}
	if h.counted != nil {
		h.counted.against(g)
	}
	if h.rule == leaseExclusion && h.proof.granted() && c.granted() && c.answer.Index <= h.through && h.lapsed == 0 {
		h.end = forever
		if c.answer.Deadline > 0 {
			h.end = c.answer.Deadline
		}
	}
}

// against takes a grant that may have had its effect after g.
func (g *grant) against(o *grant) {
	if o.invoke.Index < g.invoke.Index {
		g.loose = shorter(g.loose, o.ttl)
	} else {
		g.until = min(g.until, sure(o.invoke.Time, o.ttl))
	}
}

// shorter is the shorter of two TTLs, of which 0 or less is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || 0 < b && b < a {
		return b
	}
	return a
}

// holds returns the inequalities by which the attempt had the key of v from held through through.
func (h *holder) holds(v *Verdict) ([]Bound, error) {
	switch {
	case !h.proof.granted() || h.proof.invoke.Key != v.Key:
		return nil, fmt.Errorf("event %d grants attempt %d nothing of %q", h.held, h.attempt, v.Key)
	case h.ended != 0:
		return nil, fmt.Errorf("attempt %d ended at event %d, so it need not have had %q at event %d", h.attempt, h.ended, v.Key, h.through)
	case h.lapsed != 0:
		return nil, fmt.Errorf("the deadline that attempt %d was told had passed at event %d", h.attempt, h.lapsed)
	case h.rule == mutualExclusion:
		return nil, nil
	}
	end := h.end
	if h.rule == leaseHonoured {
		if h.asked.Mode() == histories.Reentrant {
			return nil, fmt.Errorf("attempt %d re-entered, and what its client entered besides may have moved its lease", h.attempt)
		}
		end = h.leaseEnd()
	}
	return []Bound{less(fmt.Sprintf("time of event %d", h.through), h.time, fmt.Sprintf("end of attempt %d", h.attempt), end)}, nil
}

// leaseEnd is the earliest end that the lease can have had at the event through.
func (h *holder) leaseEnd() time.Duration {
	for _, open := range h.grants {
		h.counted.against(open)
	}
	from := h.counted.invoke.Time
	return min(sure(from, h.counted.ttl), sure(from, h.counted.loose), h.counted.until)
}
