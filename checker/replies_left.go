package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// leftBehind returns a conflict for every audit that finds a key which an acquire must have left
// there that was refused. A refusal says that the attempt left nothing behind, and who else may
// have set the key is known: what was granted, until its accepted release or until a lease has
// passed since the latest sign of it, and what has no certain outcome. A release that a majority of the
// masters accepted may not have come to another one if a fault touched its client then or later. A fault that touches more than
// clients excuses what is found until a lease and the slack after it. Keys without a TTL are a
// matter of deadlock freedom; of keys that are no strings nobody knows whether they are a hold.
//
// It takes several masters: one alone that refuses an acquire has said that the key was there
// before, and what an audit finds may be just that, renewed by whom nobody sees.
func leftBehind(s *stretch, opt Options) []*conflict {
	if opt.Masters < 2 {
		return nil
	}
	var found []*conflict
	for _, e := range s.singles {
		if e.F != histories.Audit || e.TTL == histories.NoTTL || e.Value == "" {
			continue
		}
		refused := lastRefused(s, e)
		if refused == nil || explained(s, opt, e) {
			continue
		}
		name := histories.WorkerName(refused.Invoke.Worker)
		found = append(found, &conflict{
			witness: []int{refused.Invoke.Index, refused.Complete.Index, e.Index},
			story: fmt.Sprintf("%s's acquire of %s was refused at %s, which says that it left nothing behind, yet at %s %s had %s = %q, and nobody else can have left it there.",
				name, e.Key, words.Seconds(refused.Complete.Time), words.Seconds(e.Time), e.Node, e.Key, e.Value),
		})
	}
	return found
}

// lastRefused is the last acquire of the key of an audit that was refused before it.
func lastRefused(s *stretch, audit histories.Event) *histories.Op {
	var last *histories.Op
	for _, o := range s.calls {
		if o.Invoke.F == histories.Acquire && refused(o) && o.Complete.Index < audit.Index {
			last = o
		}
	}
	return last
}

// explained reports whether somebody may have the key that an audit found, or a fault may have
// brought it back.
func explained(s *stretch, opt Options, audit histories.Event) bool {
	lease, ailing := s.longestAsked(), newAilments(s, opt)
	if s.before > 0 && slices.ContainsFunc(s.ill, func(f *histories.Op) bool { return f.Invoke.Index < audit.Index }) {
		return true // what was given back in an earlier stretch is not known any more
	}
	if slices.ContainsFunc(s.past(opt.slack()), func(t taking) bool { return t.to > at(audit.Index) }) || slices.ContainsFunc(s.holds, func(h *histories.Hold) bool {
		return h.Invoked.Event < audit.Index &&
			(h.End == histories.Crash || takenBy(s, h, opt.slack()).to > at(audit.Index) || mayBeKept(h, opt, ailing, audit))
	}) {
		return true
	}
	return slices.ContainsFunc(s.ill, func(f *histories.Op) bool {
		return f.Invoke.Index < audit.Index && !slices.Contains(opt.clientFaults(), f.Invoke.F) &&
			(!healed(f) || plus(f.Complete.Time, plus(lease, opt.slack())) > audit.Time)
	})
}

// longestAsked is the longest lease that was asked for.
func (s *stretch) longestAsked() (lease time.Duration) {
	for _, o := range s.calls {
		lease = max(lease, o.Invoke.TTL)
	}
	return lease
}

// mayBeKept reports whether some master may still have a hold whose release was accepted, as a fault touched its client.
func mayBeKept(h *histories.Hold, opt Options, ailing ailments, audit histories.Event) bool {
	r, ok := accepted(h)
	return ok && ailing.of(h.Worker).meets(between(r.Invoked.Event, audit.Index)) && mayRunUntil(h, opt.slack()) > audit.Time
}
