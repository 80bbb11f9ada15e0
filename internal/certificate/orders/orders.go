package orders

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// MaxCalls is how many calls a history may have at most.
const MaxCalls = 8

// Pending is the event of an answer that there is none of.
const Pending = math.MaxInt

// A Call is an acquire, a release, an extend or a count, with its answer. Each acquire has an attempt of
// its own, and a release or an extend that of an acquire.
type Call struct {
	F        histories.F
	Worker   int
	Attempt  uint64
	Mode     histories.Mode // of an acquire
	Outcome  histories.Type // Info if nobody knows whether it took effect
	Invoked  Moment
	Returned Moment
	TTL      time.Duration // 0 or less: without an end; of an extend 0: that of its acquire
	Token    int64         // of an acquire that is granted; 0: none
	Told     time.Duration // deadline; 0: none
	Count    int           // that a count answered
}

// A Moment is an event and its time.
type Moment struct {
	Event int
	Time  time.Duration
}

func (c *Call) open() bool { return c.Returned.Event == Pending }

// A Property is one that is ruled on.
type Property int

// All but the first are those that the server's wrongs tell apart, in the order of their bits.
const (
	LeaseHonoured Property = iota
	Ownership
	TruthfulReplies
	Reentrancy
	Fencing
	properties
)

// A Ruling is what may be said of a property of a history.
type Ruling uint8

// The rulings.
const (
	Free     Ruling = iota // the definitions leave it open, or another property may be to blame as well
	MustNot                // an explanation keeps the property: who accuses it is wrong
	MustFail               // no explanation keeps it: who does not accuse it misses something
)

func (r Ruling) String() string { return [...]string{"free", "must not fail", "must fail"}[r] }

// Rulings are those on each Property.
type Rulings [properties]Ruling

// A Drift is by how much a lease may be shorter or longer than was asked for.
type Drift struct {
	Part  time.Duration // one in so many of the lease; 0: none
	Extra time.Duration // and that
	Late  time.Duration // and how much later the server may be
}

func (d Drift) of(lease time.Duration) time.Duration {
	if d.Part == 0 {
		return d.Extra
	}
	return lease/d.Part + d.Extra
}

// A Judge rules on one history after the other.
type Judge struct {
	narrow, wide Drift // of the two readings
	room         room
}

// NewJudge returns a Judge who has a lease drift in the narrow and in the wide reading.
func NewJudge(narrow, wide Drift) *Judge { return &Judge{narrow: narrow, wide: wide} }

// mostWrongs is how many wrongs of a server are assumed at most.
const mostWrongs = 3

// Rule rules on the calls of a history of one key, MaxCalls at most, in order of invocations. The
// second result says that a sound lock explains them by the narrow reading.
//
// Lease honoured is a statement about grants alone: it must fail if no order and instants keep it,
// and must not if some do; see duty. Where no acquire asks for a lease nothing is ruled of it.
//
// What one answer tells of the others depends on which of them are believed. So the other
// properties go by the explanations with the fewest wrongs (see server): a property must not fail
// that one of them keeps, and must fail if all break it. A grant inside another's lease is lease
// honoured's to tell: it is assumed without reserve only if that must fail. If the narrow and the
// wide reading do not agree on what the fewest wrongs are, nothing is ruled of them. Nor is it if a
// deadline was told before the lease is certainly over. Of fencing nothing is ruled where readers
// have tokens, as they may share one.
func (j *Judge) Rule(calls []Call) (r Rulings, sound bool) {
	s := newSearch(calls, &j.room)
	r[LeaseHonoured] = j.honours(s)
	sound = j.serves(s, &r) && r[LeaseHonoured] == MustNot
	if !slices.ContainsFunc(calls, func(c Call) bool { return c.F == histories.Acquire && c.TTL > 0 }) {
		r[LeaseHonoured] = Free
	}
	for i := range calls {
		c, a := &calls[i], &s.acts[i]
		switch {
		case c.Told > 0 && (a.lease == forever || c.Told < c.Invoked.Time+a.lease-j.narrow.of(a.lease)):
			r = Rulings{LeaseHonoured: r[LeaseHonoured]}
		case a.mode == shared && c.Token > 0:
			r[Fencing] = Free
		}
	}
	return r, sound
}

func (j *Judge) honours(s *search) Ruling {
	t := s.owing()
	if t.run(rules{drift: j.narrow}, (*search).duty); t.fewest != none {
		return MustNot
	}
	if t.run(rules{wide: true, drift: j.wide}, (*search).duty); t.fewest != none {
		return Free
	}
	return MustFail
}

// serves rules on the properties that the server tells apart. It says whether the narrow reading
// needs no wrong.
func (j *Judge) serves(s *search, r *Rulings) (sound bool) {
	beside := r[LeaseHonoured] == MustFail
	for budget := range int8(mostWrongs + 1) {
		s.run(rules{beside: beside, budget: budget, drift: j.narrow}, (*search).server)
		kept, found := s.kept, s.fewest != none
		if !found || budget > 0 {
			s.run(rules{wide: true, beside: true, budget: budget, drift: j.wide}, (*search).server)
		}
		if s.fewest < budget || !found && s.fewest != none {
			return false
		}
		if !found {
			continue
		}
		for p := range kept {
			switch {
			case kept[p] <= budget:
				r[Ownership+Property(p)] = MustNot
			case s.kept[p] > budget:
				r[Ownership+Property(p)] = MustFail
			}
		}
		return budget == 0
	}
	return false
}
