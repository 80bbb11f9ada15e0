package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// leftBehind returns a conflict for every audit that finds a key which an acquire must have left
// there that was refused. A refusal says that the attempt left nothing behind, and who else may
// have set the key is known: what was granted, until its accepted release or until a lease has
// passed since the latest sign of it, and what has no certain outcome. A fault that touches more than
// clients excuses what is found until a lease and the slack after it. Keys without a TTL are a
// matter of deadlock freedom; of keys that are no strings nobody knows whether they are a hold.
//
// It takes several masters: one alone that refuses an acquire has said that the key was there
// before, and what an audit finds may be just that, renewed by whom nobody sees.
func leftBehind(rec *record, opt Options) []*conflict {
	if opt.Masters < 2 {
		return nil
	}
	var found []*conflict
	for _, e := range rec.events {
		if e.F != histories.Audit || e.TTL == histories.NoTTL || e.Value == "" {
			continue
		}
		refused, ok := lastRefused(rec, e)
		if !ok || explained(rec, opt, e) {
			continue
		}
		name := histories.WorkerName(refused.Invoke.Worker)
		found = append(found, &conflict{
			witness: []int{refused.Invoke.Index, refused.Complete.Index, e.Index},
			story: fmt.Sprintf("%s's acquire of %s was refused at %s, which says that it left nothing behind, yet at %s %s had %s = %q, and nobody else can have left it there.",
				name, e.Key, seconds(refused.Complete.Time), seconds(e.Time), e.Node, e.Key, e.Value),
		})
	}
	return found
}

// lastRefused is the last acquire of the key of an audit that was refused before it.
func lastRefused(rec *record, audit histories.Event) (last histories.Op, ok bool) {
	for _, o := range rec.calls {
		if o.Invoke.F == histories.Acquire && o.Invoke.Key == audit.Key && refused(o) && o.Complete.Index < audit.Index {
			last, ok = o, true
		}
	}
	return last, ok
}

// explained says whether somebody may have the key that an audit found, or a fault may have
// brought it back.
func explained(rec *record, opt Options, audit histories.Event) bool {
	lease := longestLease(rec, audit.Key)
	if slices.ContainsFunc(rec.Holds, func(h *histories.Hold) bool {
		return h.Key == audit.Key && h.Invoked.Event < audit.Index &&
			(h.End == histories.Crash || takenBy(rec, h, opt.slack()).to > at(audit.Index))
	}) {
		return true
	}
	return slices.ContainsFunc(rec.Faults, func(f histories.Op) bool {
		return f.Invoke.Index < audit.Index && !slices.Contains(opt.clientFaults(), f.Invoke.F) &&
			(!healed(f) || plus(f.Complete.Time, plus(lease, opt.slack())) > audit.Time)
	})
}

// longestLease is the longest that was asked for on a key.
func longestLease(rec *record, key string) (lease time.Duration) {
	for _, o := range rec.calls {
		if o.Invoke.Key == key {
			lease = max(lease, o.Invoke.TTL)
		}
	}
	return lease
}
