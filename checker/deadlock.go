package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// judgeDeadlock judges deadlock freedom: once the last fault is healed, a waiting
// client gets the lock within TTL + slack, and nothing is left locked for ever.
//
// A key is free while no living client can think that it has it: no belief is
// open, and no acquire that ended as unknown, or never, is in flight. A granted
// attempt counts from its acquire's invocation. A release, lost, abandon or crash
// ends a belief, and a crash ends a call in flight. What a server still holds then has
// to run out: a free window that begins after the last fault, and in which clients are
// refused over a span longer than the largest TTL that anybody may have got on
// that key plus the slack, is a deadlock: what was refused left nothing behind. If nobody
// can have got anything it is the largest that was asked for. The span runs from the first
// refused invocation to the last inside the window: how long the last answer took to come
// is not the lock's.
//
// An audit that finds a lock key without TTL and without such a living owner is a
// deadlock as well: no server will ever remove that key.
//
// The verdict is Pass only if every key that anybody tried after the last fault
// was granted to somebody then. It is Unknown if nobody tried, if a key was only
// ever refused but not for long enough, if somebody waited for that long without a
// certain answer, or if a fault was never healed.
func judgeDeadlock(rec *record, opt Options) judge {
	j := &deadlocks{opt: opt, keys: make(map[string]*chance)}
	j.calm, j.sick = lastHealed(rec.Faults)
	return j
}

type deadlocks struct {
	opt  Options
	calm rank
	sick *histories.Op // a fault that was never healed

	blame   []string
	witness []int // of the first key that is blamed; what happened on it is proof enough
	keys    map[string]*chance
	last    *record
}

// A chance is what is known of a key after the last fault.
type chance struct {
	starved        bool
	tried, granted bool
	waiting        string  // what somebody waited for in vain, perhaps
	lent           longest // in earlier stretches
}

func (j *deadlocks) hear(_ context.Context, s *stretch) error {
	k := j.keys[s.key]
	if k == nil {
		k = &chance{}
		j.keys[s.key] = k
	}
	d := newDemand(s, k, j.opt)
	j.last = s.record
	var witness []int
	orphaned, innocent := false, len(j.blame) == 0
	accuse := func(story string, by []int) { j.blame, witness = append(j.blame, story), append(witness, by...) }
	for _, e := range s.singles {
		if e.F == histories.Audit && e.TTL == histories.NoTTL && !d.owned(e.Index) && !squatted(s.record, e) {
			orphaned = true
			accuse(d.tellOrphan(e), d.orphan(e))
		}
	}
	switch starved, ok := d.starved(j.calm, j.opt.slack()); {
	case j.sick != nil, k.starved: // nobody knows when the last fault was over, or all is said
	case ok && s.mine(starved.last.Complete.Index):
		k.starved = true
		story := d.tellStarved(starved)
		if !orphaned {
			story = paragraph(story, d.tellLeft(starved.left, "", starved.first.Invoke.Time))
		}
		accuse(story, starved.witness())
	default:
		j.wait(d)
	}
	k.lent = d.leases()
	k.lent.before(s.to)
	k.lent.calls = nil
	if innocent {
		j.witness = witness
	}
	return nil
}

// wait notes whether a key was had after the last fault, or what somebody waited for.
func (j *deadlocks) wait(d *demand) {
	tried, granted := d.since(j.calm)
	d.tried, d.granted = d.tried || tried, d.granted || granted
	if o := d.unanswered(j.calm, j.opt.slack()); o != nil && d.waiting == "" {
		d.waiting = fmt.Sprintf("%s asked for %s at %s and had no certain answer for longer than TTL and slack, while nobody is known to have had it.",
			histories.WorkerName(o.Invoke.Worker), d.key, seconds(o.Invoke.Time))
	}
}

// chances says how many keys were had after the last fault, and what somebody waited for in vain.
func (j *deadlocks) chances() (granted int, waiting string) {
	for _, key := range sortedKeys(j.keys) {
		switch k := j.keys[key]; {
		case k.starved:
		case k.waiting != "":
			waiting = k.waiting
		case k.granted:
			granted++
		case k.tried:
			waiting = fmt.Sprintf("Nobody was granted %s after %s, but nobody was refused for long enough while it was free.", key, seconds(j.last.timeOf(j.calm)))
		}
	}
	return granted, waiting
}

func (j *deadlocks) verdict(res *Result) error {
	granted, waiting := j.chances()
	switch {
	case len(j.blame) > 0:
		res.Verdict = Fail
		slices.Sort(j.witness)
		res.Witness = slices.Compact(j.witness)
		res.Story = paragraph(j.blame...)
	case j.sick != nil:
		res.Story = fmt.Sprintf("The fault %s that began at %s was never healed, so there is no time after the last fault.", faultName(*j.sick), seconds(j.sick.Invoke.Time))
	case waiting != "":
		res.Story = waiting
	case granted == 0:
		res.Story = "Nobody tried to get a lock after the last fault."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("From %s on, clients got every key that they tried, and no key was refused for longer than its TTL + %s while it was free.", seconds(j.last.timeOf(j.calm)), seconds(j.opt.slack()))
	}
	return nil
}

// squatted says whether what an audit found may be somebody else's: no string, while a fault was
// in force that puts such a thing under the lock's keys.
func squatted(rec *record, audit histories.Event) bool {
	return audit.Value == "" && slices.ContainsFunc(rec.Faults, func(f histories.Op) bool {
		return f.Invoke.F == squatter && f.Invoke.Node == audit.Node && inForce(f, audit.Index, audit.Index+1)
	})
}

// squatter is the fault that puts a value of another type under a key of the lock.
const squatter histories.F = "squatter"

// lastHealed returns the rank at which the last fault ended, 0 if there was none,
// or else a fault that was never healed.
func lastHealed(faults []histories.Op) (rank, *histories.Op) {
	var last rank
	for i := range faults {
		if !healed(faults[i]) {
			return never, &faults[i]
		}
		last = max(last, at(faults[i].Complete.Index))
	}
	return last, nil
}

func faultName(fault histories.Op) string {
	if fault.Invoke.Node == "" {
		return string(fault.Invoke.F)
	}
	return fmt.Sprintf("%s of %s", fault.Invoke.F, fault.Invoke.Node)
}

// timeOf is the time of the event with rank r, and 0 for rank 0.
func (r *record) timeOf(at rank) time.Duration {
	if at == 0 {
		return 0
	}
	return r.Times[at/2]
}
