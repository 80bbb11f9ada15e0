package workloads

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// An act is something that clients of a run of swarm may do, beside acquiring, using and releasing the lock.
type act string

// The acts.
const (
	long    act = "sections of up to three leases"
	uneven  act = "leases of several lengths"
	extend  act = "extend"
	wait    act = "wait as the lock's users do"
	queue   act = "wait in turns"
	insist  act = "ask again at once when refused"
	tryOnce act = "leave when refused"
	hurry   act = "give up before they are answered"
	enter   act = "acquire what they hold"
	share   act = "read beside others"
	another act = "hold two keys at once"
	abandon act = "leave without a release"
	again   act = "release twice"
	back    act = "come back at once"
	idle    act = "pause between sections"
	solo    act = "leave one alone in the second half"
	threads act = "two are threads of one process"
)

// choice is what a run of swarm draws once.
type choice struct {
	acts []act
	// counts says that who acquires what it holds enters again.
	counts bool
	// hangs says that a holder must stay for most of what a renewed lease may last, before it leaves without a release.
	hangs bool
	// even says that leases are all of one length, and extended by it: a re-entry may shorten a longer one.
	even bool

	// patient says that clients wait for a reply for longer than a lease, faults or not.
	patient bool
	// anchor is the command at which half of the faults begin, and reply says that they do when it has been executed.
	anchor string
	reply  bool
}

// choose draws what a run does: each act that the lock offers half of the time.
func choose(seed uint64, lock locks.Spec, faults bool) choice {
	r := rand.New(rand.NewPCG(seed, 's'))
	class := lock.Class()
	c := choice{counts: lock.Reenters, hangs: class.Renews, even: faults || lock.WholeSeconds || !lock.Keeps(locks.NeverShortens)}
	// A place in a queue outlives who waits there and leaves, or is hit by a fault.
	for _, o := range []struct {
		act     act
		offered bool
	}{
		{long, true}, {uneven, !c.even}, {extend, lock.Extends}, {wait, lock.Waits && !lock.Promises.Fair}, {queue, lock.Promises.Fair && !faults},
		{insist, true}, {tryOnce, true}, {hurry, lock.Keeps(locks.CountsOnce)}, {enter, true}, {share, lock.ReadWrite}, {another, true},
		{abandon, lock.Keeps(locks.BoundedHold)}, {again, lock.Promises.ReleasesTwice}, {back, true}, {idle, true}, {solo, true},
		{threads, lock.Promises.Threads},
	} {
		if r.IntN(2) == 0 && o.offered { // drawn for every lock, so that a seed means the same for all
			c.acts = append(c.acts, o.act)
		}
	}
	if c.has(queue) { // who is in a queue neither leaves it nor stays for long
		c.acts = slices.DeleteFunc(c.acts, func(a act) bool { return a != queue && a != back && a != share })
	}
	c.patient, c.reply = r.IntN(2) == 0, r.IntN(2) == 0
	c.anchor = []string{schedule.Takes, schedule.Frees, schedule.Looks}[r.IntN(3)]
	return c
}

// has reports whether the run offers an act.
func (c choice) has(a act) bool { return slices.Contains(c.acts, a) }

// String tells what there is, for people.
func (c choice) String() string {
	if len(c.acts) == 0 {
		return "nothing but short sections"
	}
	words := make([]string, len(c.acts))
	for i, a := range c.acts {
		words[i] = string(a)
	}
	return strings.Join(words, ", ")
}
