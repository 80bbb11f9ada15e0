package explore

import (
	"maps"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// counted leaves out what no lock with leases can keep. Who goes on after the deadline that it was told is by itself in its section;
// that is the lock's affair only if it promises to renew the lease, or if it lets others in before. Even a lock that renews cannot spare
// the section of who is granted a lease that is over, if it tells the loss, nor withdraw what its holder had sent to the register when it told
// it. Who does not know until when its lease runs is owed nothing. And a register that does not look at tokens accepts old ones of any lock.
func counted(fails []checker.Property, of seen, lock locks.Spec, lease time.Duration) []checker.Property {
	if len(fails) == 0 {
		return nil
	}
	events := of.events
	unsure := doubtful(events, lease)
	alone := !slices.Contains(fails, checker.LeaseExclusion) && (!lock.Class().Renews && overran(events) || late(events))
	return slices.DeleteFunc(slices.Clone(fails), func(p checker.Property) bool {
		switch p {
		case checker.StrictExclusion:
			return unsure || alone
		case checker.ResourceSafety:
			return unsure || alone || !slices.Contains(fails, checker.LeaseExclusion) && surprised(events)
		case checker.LeaseExclusion, checker.LeaseHonoured:
			return unsure
		case checker.Fencing:
			return (alone || !of.fenced) && !of.issued()
		}
		return false
	})
}

// seen is what was recorded of a run.
type seen struct {
	events []histories.Event
	tokens []int // events that speak against fencing
	fenced bool  // the register refuses old tokens
}

// issued reports whether what speaks against fencing is that the lock issued tokens in the wrong order, whatever their holders did, and not
// that an old token was shown.
func (s seen) issued() bool {
	return len(s.tokens) > 0 && !slices.ContainsFunc(s.tokens, func(i int) bool { return s.events[i].F != histories.Acquire })
}

// hold is what a process has of a key.
type hold struct {
	process int
	key     string
}

func holdOf(e histories.Event) hold { return hold{e.Process, e.Key} }

// overran reports whether a holder went on after the deadline that it was told: it was in the midst of an access then, asked to release the
// lock after it, left it, or never did.
func overran(events []histories.Event) bool {
	told := map[hold]time.Duration{}
	var now time.Duration
	for _, e := range events {
		now = e.Time
		deadline, holds := told[holdOf(e)]
		over := holds && deadline > 0 && now > deadline
		switch e.F {
		case histories.Acquire, histories.Extend:
			if e.Type == histories.OK {
				told[holdOf(e)] = e.Deadline
				over = e.Deadline > 0 && now > e.Deadline
			} else {
				over = false
			}
		case histories.Release:
			over = over && e.Type == histories.Invoke
			if e.Type == histories.Invoke {
				delete(told, holdOf(e))
			}
		case histories.Lost, histories.Abandon:
			delete(told, holdOf(e))
		case histories.Crash:
			maps.DeleteFunc(told, func(h hold, _ time.Duration) bool { return h.process == e.Process })
		}
		if over {
			return true
		}
	}
	for _, deadline := range told {
		if deadline > 0 && now > deadline {
			return true
		}
	}
	return false
}

// late reports whether somebody was granted the lock after the deadline that it was told, and was told the loss: by then it may have begun.
func late(events []histories.Event) bool {
	over := map[hold]bool{}
	for _, e := range events {
		switch e.F {
		case histories.Acquire:
			over[holdOf(e)] = e.Type == histories.OK && 0 < e.Deadline && e.Deadline < e.Time
		case histories.Lost:
			if over[holdOf(e)] {
				return true
			}
		}
	}
	return false
}

// surprised reports whether somebody was told the loss in the midst of an access to the register.
func surprised(events []histories.Event) bool {
	amid := map[int]bool{} // by process
	for _, e := range events {
		switch e.F {
		case histories.Read, histories.Write:
			amid[e.Process] = e.Type == histories.Invoke
		case histories.Lost:
			if amid[e.Process] {
				return true
			}
		}
	}
	return false
}

// doubtful reports whether somebody asked for less than a whole lease, and was not told that it got it: a request that was sent again
// may have been carried out before it was refused.
func doubtful(events []histories.Event, lease time.Duration) bool {
	asked := map[int]bool{} // by process
	for _, e := range events {
		switch {
		case e.F != histories.Extend:
		case e.Type == histories.Invoke:
			asked[e.Process] = e.Value == "" && 0 < e.TTL && e.TTL < lease
		case e.Type != histories.OK && asked[e.Process]:
			return true
		}
	}
	return false
}
