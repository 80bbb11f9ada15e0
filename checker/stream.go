package checker

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A Stream judges a history that is read event by event and not kept: of exclusion alone less is
// kept than of all properties. The verdicts are those of Check. Make one with NewStream.
type Stream struct {
	fold    *histories.Fold
	lean    bool // the calls are not kept
	singles []histories.Event
	crashes map[int]int
	fair    *fairness
}

// NewStream returns a Stream of no events that judges some properties, or all if they are nil.
func NewStream(properties []Property) *Stream {
	s := &Stream{fold: histories.NewFold(), lean: lean(properties), crashes: make(map[int]int), fair: newFairness()}
	if !s.lean {
		s.fold.KeepCalls()
	}
	return s
}

// lean says whether all of some properties are judged without the calls of a history.
func lean(properties []Property) bool {
	judged := Options{Properties: properties}.seats()
	return properties != nil && !slices.ContainsFunc(judged, func(s seat) bool { return !s.lean })
}

// Exclusion are the properties of exclusion.
func Exclusion() []Property { return []Property{StrictExclusion, LeaseExclusion, LeaseHonoured} }

// Add takes the next event. The error is always nil, so that histories.Decode can call it.
func (s *Stream) Add(e histories.Event) error {
	s.fold.Add(e)
	if s.lean {
		return nil
	}
	switch e.F {
	case histories.Audit, histories.Waited:
		s.singles = append(s.singles, e)
	case histories.Crash:
		s.crashes[e.Process] = e.Index
	case histories.Acquire:
		s.fair.on(&e)
	}
	return nil
}

// Check judges the events so far, as the function of that name does, on the properties of the
// Stream. The Stream must not be used again.
func (s *Stream) Check(ctx context.Context, opt Options) Report {
	rec, unfit := s.record()
	rec.cut(opt)
	return judgeAll(ctx, rec, opt.excuse(unfit), opt, opt.seats())
}

// record returns the history as the judges see it. An error means that it must not be judged; the
// record is what could be paired.
func (s *Stream) record() (*record, error) {
	left, unfit := s.fold.Remains()
	rec := &record{Remains: left, crashes: s.crashes, fair: s.fair}
	rec.stretches = rec.divide(s.singles)
	return rec, unfit
}
