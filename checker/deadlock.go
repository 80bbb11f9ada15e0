package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// DeadlockFreedom is what judgeDeadlock judges.
const DeadlockFreedom Property = "deadlock-freedom"

func deadlockFreedomSpec() spec {
	return spec{
		property:   DeadlockFreedom,
		definition: "a free or abandoned lock can be had again within its TTL and a little slack, and no key is left without a TTL",
		judge:      judgeDeadlock,
		engine:     "free windows",
		counts:     append(holding(), histories.Audit),
	}
}

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
// can have got anything it is the largest that was asked for. If that is not known any more, it is the
// largest of any key of which it is not. The span runs from the first
// refused invocation to the last inside the window: how long the last answer took to come
// is not the lock's.
//
// An audit that finds a lock key without TTL and without such a living owner is a
// deadlock as well: no server will ever remove that key. So is one that finds the key of a living
// owner who did not say for how long, and has no end although the lock promises one, or a later one
// than that: it is what the lock would be left with if its owner died.
//
// The verdict is Pass only if every key that anybody tried after the last fault
// was granted to somebody then. It is Unknown if nobody tried, if a key was only
// ever refused but not for long enough, if somebody waited for that long without a
// certain answer, or if a fault was never healed.
func judgeDeadlock(rec *record, opt Options) judge {
	return &deadlocks{record: rec, opt: opt, keys: make(map[string]*chance), lent: make(map[string]longest)}
}

type deadlocks struct {
	*record
	opt Options

	known     rank // the end of the last fault that was known
	blames    []blame
	keys      map[string]*chance // since then
	granted   int                // keys that were had since then, and are forgotten
	lent      map[string]longest // in earlier stretches
	forgotten time.Duration      // the longest lease of all keys that are forgotten
}

// A blame is what speaks against a lock on one key: what happened on it is proof enough.
type blame struct {
	orphans, starved string    // stories
	left, all        *conflict // without the starvation, and with it
}

// A chance is what is known of a key after the last fault.
type chance struct {
	starved        bool
	tried, granted bool
	waiting        string // what somebody waited for in vain, perhaps
}

func (j *deadlocks) observe(_ context.Context, s *stretch) error {
	calm, sick := j.calm()
	j.since(calm)
	k := j.keys[s.key]
	if k == nil {
		k = &chance{}
		j.keys[s.key] = k
	}
	lent, known := j.lent[s.key]
	if !known {
		lent.least = j.forgotten // it may be one of them
	}
	d := newDemand(s, k, lent, j.opt)
	var b blame
	b.left = &conflict{}
	for _, e := range s.singles {
		if e.F != histories.Audit {
			continue
		}
		if e.TTL == histories.NoTTL && !d.owned(e.Index) && !squatted(s.record, e) {
			b.orphans = paragraph(b.orphans, d.tellOrphan(e))
			b.left.witness = append(b.left.witness, d.orphan(e)...)
		} else if o := d.outlasts(e, j.opt.slack()); o != nil {
			b.orphans = paragraph(b.orphans, tellOutlasts(o, e))
			b.left.witness = append(b.left.witness, o.Invoke.Index, o.Complete.Index, e.Index)
		}
	}
	b.all = &conflict{witness: slices.Clone(b.left.witness)}
	switch starved, ok := d.starved(calm, j.opt.slack()); {
	case sick != nil, k.starved: // nobody knows when the last fault was over, or all is said
	case ok && s.mine(starved.last.Complete.Index):
		k.starved = true
		b.starved = d.tellStarved(starved)
		if b.orphans == "" {
			b.starved = paragraph(b.starved, d.tellLeft(starved.left, "", starved.first.Invoke.Time))
		}
		b.all.witness = append(b.all.witness, starved.witness()...)
	default:
		d.wait(calm, j.opt.slack())
	}
	lent = d.leases()
	lent.before(s.to)
	lent.calls = nil
	j.lent[s.key] = lent
	j.accuse(s, b)
	return nil
}

func (j *deadlocks) forget(key string) {
	if lent, ok := j.lent[key]; ok {
		j.forgotten = max(j.forgotten, lent.longest())
		delete(j.lent, key)
	}
	if k := j.keys[key]; k != nil && !k.starved && k.waiting == "" && (k.granted || !k.tried) {
		delete(j.keys, key)
		if k.granted {
			j.granted++
		}
	}
}

// since begins anew if another fault has ended: what is said of the time after the last one is not said of
// that before.
func (j *deadlocks) since(calm rank) {
	if calm == j.known {
		return
	}
	j.known, j.granted = calm, 0
	clear(j.keys)
	for i := range j.blames {
		j.blames[i].starved, j.blames[i].all = "", j.blames[i].left
	}
	j.blames = slices.DeleteFunc(j.blames, func(b blame) bool { return b.orphans == "" })
}

// accuse takes what speaks against the lock.
func (j *deadlocks) accuse(s *stretch, b blame) {
	if b.orphans == "" && b.starved == "" {
		return
	}
	for _, c := range []*conflict{b.left, b.all} {
		slices.Sort(c.witness)
		if c.witness = slices.Compact(c.witness); len(c.witness) > 0 {
			s.draw(c)
		}
	}
	j.blames = append(j.blames, b)
}

// wait notes whether a key was had after the last fault, or what somebody waited for.
func (d *demand) wait(calm rank, slack time.Duration) {
	tried, granted := d.since(calm)
	d.tried, d.granted = d.tried || tried, d.granted || granted
	if o := d.unanswered(calm, slack); o != nil && d.waiting == "" {
		d.waiting = fmt.Sprintf("%s asked for %s at %s and had no certain answer for longer than TTL and slack, while nobody is known to have had it.",
			histories.WorkerName(o.Invoke.Worker), d.key, words.Seconds(o.Invoke.Time))
	}
}

// chances says how many keys were had after the last fault, and what somebody waited for in vain.
func (j *deadlocks) chances() (granted int, waiting string) {
	granted = j.granted
	for _, key := range sortedKeys(j.keys) {
		switch k := j.keys[key]; {
		case k.starved:
		case k.waiting != "":
			waiting = k.waiting
		case k.granted:
			granted++
		case k.tried:
			waiting = fmt.Sprintf("Nobody was granted %s after %s, but nobody was refused for long enough while it was free.", key, j.calmSince())
		}
	}
	return granted, waiting
}

// calmSince is when the last fault ended, as stories tell it.
func (j *deadlocks) calmSince() string { return words.Seconds(j.pace.calm.Time) }

func (j *deadlocks) verdict(res *finding) error {
	calm, sick := j.calm()
	j.since(calm)
	granted, waiting := j.chances()
	switch {
	case len(j.blames) > 0:
		var stories []string
		for _, b := range j.blames {
			stories = append(stories, b.orphans, b.starved)
		}
		res.prove(j.blames[0].all, paragraph(stories...))
	case sick != nil:
		res.Story = fmt.Sprintf("The fault %s that began at %s was never healed, so there is no time after the last fault.", faultName(sick), words.Seconds(sick.Invoke.Time))
	case waiting != "":
		res.Story = waiting
	case granted == 0:
		res.Story = "Nobody tried to get a lock after the last fault."
	default:
		res.Verdict = Pass
		res.Story = fmt.Sprintf("From %s on, clients got every key that they tried, and no key was refused for longer than its TTL + %s while it was free.", j.calmSince(), words.Seconds(j.opt.slack()))
	}
	return nil
}

// squatted reports whether what an audit found may be somebody else's: no string, while a fault was
// in force that puts such a thing under the lock's keys.
func squatted(rec *record, audit histories.Event) bool {
	return audit.Value == "" && slices.ContainsFunc(rec.Faults, func(f *histories.Op) bool {
		return f.Invoke.F == squatter && f.Invoke.Node == audit.Node && inForce(f, audit.Index, audit.Index+1)
	})
}

// squatter is the fault that puts a value of another type under a key of the lock.
const squatter histories.F = "squatter"

func faultName(fault *histories.Op) string {
	if fault.Invoke.Node == "" {
		return string(fault.Invoke.F)
	}
	return fmt.Sprintf("%s of %s", fault.Invoke.F, fault.Invoke.Node)
}
