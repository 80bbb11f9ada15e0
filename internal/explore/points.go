package explore

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/schedule"
)

// Points counts the commands that clients send in programs in fair weather, and those of them at which nothing is made to happen first, by
// the reason. At all others every deviation is played that there is for them. What happens second may also be at what is sent only then.
type Points struct {
	Sent    int `json:"sent"`
	Polls   int `json:"polls"`   // a call sends many of that name: the first ones and the last stand for them
	Masters int `json:"masters"` // they go to one of several masters that are alike: the first stands for them
	Steps   int `json:"steps"`   // the program says step by step who does what, and leaves no room
}

// Met is at how many deviations are played first.
func (p Points) Met() int { return p.Sent - p.Polls - p.Masters - p.Steps }

func (p *Points) add(q Points) {
	p.Sent, p.Polls, p.Masters, p.Steps = p.Sent+q.Sent, p.Polls+q.Polls, p.Masters+q.Masters, p.Steps+q.Steps
}

// points counts those of the program.
func (s *search) points() Points {
	n := Points{Sent: len(s.fair.Points) + s.fair.Polls}
	if !s.program.laned() {
		n.Steps = n.Sent
		return n
	}
	n.Polls = s.fair.Polls
	for _, at := range s.fair.Points {
		if at.Server != "1" && at.Server != schedule.Register {
			n.Masters++
		}
	}
	return n
}

// idle notes a schedule that came out as the program does without its deviations, event by event, though none of them missed its command: they
// did nothing, and nothing can be said of them.
func (e *explorer) idle(s *search, ds []Deviation, o Outcome) {
	if o.Digest == s.fair.Digest && !o.Missed && len(o.Points) > 0 { // a run that was given up has no points
		e.found.GivenUp = append(e.found.GivenUp, fmt.Sprintf("%s with lock %s: %v did nothing", s.program.with(ds...), e.lock.Name, ds))
	}
}
