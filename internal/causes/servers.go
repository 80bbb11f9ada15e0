package causes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// shaken reports whether a fault of a server was in force between two effects.
func (s *scene) shaken(m, t *effect) bool { return s.fault(m.From, t.To, m.node()) != nil }

func (e *effect) node() string { return e.at.node }

// fault is the last fault of a server that began between two instants and may have changed what
// it holds, one of the node itself before one of any other.
func (s *scene) fault(from, to time.Duration, node string) *histories.Op {
	var found *histories.Op
	own := false
	for i := range s.faults {
		f := &s.faults[i]
		if slices.Contains(s.ClientFaults, f.Invoke.F) || slices.Contains(s.SparingFaults, f.Invoke.F) || f.Invoke.Time > to {
			continue
		}
		if f.Done && f.Complete.Type != histories.Info && f.Complete.Time < from || !f.Done && f.Invoke.Time < from && slices.Contains(s.InstantFaults, f.Invoke.F) {
			continue
		}
		if is := strings.Contains(f.Invoke.Node, node); is || !own {
			found, own = f, own || is
		}
	}
	return found
}

// forgotten explains that a server lost a's key before its time.
func (s *scene) forgotten(a *histories.Hold, m, t *effect, expiry time.Duration) *checker.Cause {
	f := s.fault(m.From, t.To, m.at.node)
	if f == nil {
		return nil
	}
	name, until := histories.WorkerName(a.Worker), "had no end"
	if expiry != never {
		until = "was to live until " + words.Seconds(expiry)
	}
	return s.cause(checker.ServerForgot, fmt.Sprintf("%s took %s's key away: it %s (%s at event %d), and %s at event %d found none.",
		begin(faultName(f)), name, until, s.Exchanges[m.Exchange].Command, a.Returned.Event, s.quote(t), eventOf(t)), []*effect{m, t}, f.Invoke.Index, a.Returned.Event)
}

// elsewhere explains that b was granted the lock by a server that had never had a's key.
func (s *scene) elsewhere(a *histories.Hold, m, t *effect) *checker.Cause {
	if m.at.node == t.at.node {
		return nil
	}
	f := s.fault(m.From, t.To, t.at.node)
	if f == nil {
		return nil
	}
	return s.cause(checker.ServerForgot, fmt.Sprintf("%s had its key on %s (%s at event %d), and %s had none when it answered %s at event %d: %s at event %d.",
		histories.WorkerName(a.Worker), m.at.node, s.Exchanges[m.Exchange].Command, a.Returned.Event, t.at.node, s.quote(t), eventOf(t), faultName(f), f.Invoke.Index),
		[]*effect{m, t}, f.Invoke.Index, a.Returned.Event)
}

func faultName(f *histories.Op) string {
	return strings.TrimSpace(string(f.Invoke.F) + " " + f.Invoke.Node)
}
