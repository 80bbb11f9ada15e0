// Package plot draws what happened in a run over time: how long calls took, how often the lock
// was acquired, who held it, and what that cost. It judges nothing.
package plot

import (
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/story"
)

// Draw draws what the run's history has enough data for. All plots have the same axis of time
// and show the faults. Of a history that does not pair it draws as much as does. The same run
// gives the same bytes. The error is nil: what cannot be drawn is said in a Summary.
func Draw(r report.Run) ([]report.Plot, error) {
	if len(r.Events)+len(r.Exchanges)+len(r.Samples) == 0 {
		return nil, nil
	}
	s := newSubject(r)
	return []report.Plot{latency(s), acquisitions(s), holders(s), commands(s), resources(s)}, nil
}

// subject is a run as all plots see it.
type subject struct {
	report.Run
	calls    []*histories.Op // of clients, in the order of their invocations
	faults   []story.Fault
	last     time.Duration // of the events, or 0
	from, to float64       // the axis of time, in seconds
	unit     string        // of the axis, if it is not in seconds
}

// length is that of the axis of time.
func (s *subject) length() string { return s.Language.Sayf("%.3f s", s.to-s.from) }

func newSubject(r report.Run) *subject {
	s := &subject{Run: r.Told()}
	s.faults = s.Story().Faults()
	ops := s.Story().Operations()
	s.calls = make([]*histories.Op, 0, len(ops))
	for i := range ops {
		if !ops[i].Fault() {
			s.calls = append(s.calls, &ops[i])
		}
	}
	for i := range r.Events {
		at := r.Events[i].Time
		s.last = max(s.last, at)
		s.reach(at.Seconds())
	}
	for _, x := range r.Exchanges {
		s.reach(x.Sent.Seconds())
	}
	for _, x := range r.Samples {
		s.reach(x.Time.Seconds())
	}
	if s.to <= s.from {
		s.to = s.from + 0.001
	}
	return s
}

// reach makes the axis, which begins with the run, long enough for an instant.
func (s *subject) reach(at float64) { s.from, s.to = min(s.from, at), max(s.to, at) }

// simulated reports whether what took time took none of ours.
func (s *subject) simulated() bool { return histories.VirtualTime(s.Backend) }
