package checker

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A Stream judges exclusion, in all its readings, of a history that is read event by event
// and not kept. The verdicts are those of Check. Make one with NewStream.
type Stream struct{ fold *histories.Fold }

// NewStream returns a Stream of no events.
func NewStream() *Stream { return &Stream{fold: histories.NewFold()} }

// Add takes the next event. The error is always nil, so that histories.Decode can call it.
func (s *Stream) Add(e histories.Event) error {
	s.fold.Add(e)
	return nil
}

// Streams says whether a Stream judges all of some properties.
func Streams(properties []Property) bool {
	judged := Options{Properties: properties}.seats()
	return len(judged) == len(properties) && !slices.ContainsFunc(judged, func(s seat) bool { return !s.lean })
}

// Check judges the events so far, as the function of that name does, on the properties that
// a Stream judges. The Stream must not be used again.
func (s *Stream) Check(ctx context.Context, opt Options) Report {
	left, unfit := s.fold.Remains()
	seats := slices.DeleteFunc(opt.seats(), func(s seat) bool { return !s.lean })
	rec := &record{Remains: left}
	rec.stretches = rec.divide(nil)
	return judgeAll(ctx, rec, opt.excuse(unfit), opt, seats)
}
