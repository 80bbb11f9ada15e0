package checker

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// judgeFairness judges fairness: bounded overtaking. A client waits for a key from its
// first refused acquire to the return of the next one that is not refused; one whose arguments
// were refused asked nobody. While it waits,
// each other client may be granted the key, by acquires invoked after that refusal, at most
// as often as the lock promises.
//
// Most locks promise nothing, and then the property does not apply (Options.Overtaking).
// What happened is told all the same: the worst overtaking, and Jain's index of the
// clients' grants, (Σx)² / (n·Σx²): 1 if all had the same share, 1/n if one had all.
// Clients that never asked take no part. Readers count as everybody does. A client that
// never asks again waits on.
//
// It is Unknown if nobody had to wait.
func judgeFairness(rec *record, opt Options) judge {
	f := *rec.fair
	f.rec, f.opt = rec, opt
	return &f
}

// fairness is who waited and who was served, as it happened.
type fairness struct {
	opt    Options
	rec    *record
	queues map[string]*queue // by key
	grants map[int]int       // by worker
	waits  int
	worst  *wait
}

func newFairness() *fairness {
	return &fairness{queues: make(map[string]*queue), grants: make(map[int]int)}
}

// on takes the next event of an acquire.
func (f *fairness) on(e *histories.Event) {
	if e.Process == histories.Nemesis || e.Invalid() {
		return
	}
	q := f.queues[e.Key]
	if q == nil {
		q = &queue{invoked: make(map[int]int)}
		f.queues[e.Key] = q
	}
	switch e.Type {
	case histories.Invoke:
		q.invoked[e.Worker] = e.Index
		f.grants[e.Worker] += 0
	case histories.Fail:
		if !slices.ContainsFunc(q.waiting, func(w *wait) bool { return w.worker == e.Worker }) {
			q.waiting = append(q.waiting, &wait{key: e.Key, worker: e.Worker, since: q.invoked[e.Worker], told: e.Index, overtaken: make(map[int][]int)})
			f.waits++
		}
	case histories.OK:
		f.grants[e.Worker]++
		q.served(e.Worker)
		for _, w := range q.waiting {
			if q.invoked[e.Worker] < w.told {
				continue
			}
			w.overtaken[e.Worker] = append(w.overtaken[e.Worker], e.Index)
			if len(w.overtaken[e.Worker]) > len(w.by()) {
				w.worst = e.Worker
			}
			if f.worst == nil || len(w.by()) > len(f.worst.by()) {
				f.worst = w
			}
		}
	default:
		q.served(e.Worker) // it may have got it
	}
}

func (f *fairness) hear(context.Context, *stretch) error { return nil }

func (f *fairness) verdict(res *Result) error {
	worst, most := f.worst, f.opt.Overtaking
	told := fmt.Sprintf("Jain's index of %s is %.2f.", count(len(f.grants), "client"), jain(f.grants))
	if worst != nil {
		told = paragraph(fmt.Sprintf("At worst, %s waited for %s from %s and was overtaken by %s %s.",
			histories.WorkerName(worst.worker), worst.key, f.rec.when(worst.since), histories.WorkerName(worst.worst), times(len(worst.by()))), told)
	}
	switch {
	case most <= 0:
		res.Verdict = NotApplicable
		res.Story = paragraph("The lock promises no fairness.", told)
	case f.waits == 0:
		res.Story = paragraph("Nobody had to wait.", told)
	case worst != nil && len(worst.by()) > most:
		res.Verdict = Fail
		res.Witness = append([]int{worst.since, worst.told}, worst.by()[:most+1]...)
		res.Story = paragraph(told, fmt.Sprintf("The lock promises %s at most.", times(most)))
	default:
		res.Verdict = Pass
		res.Story = paragraph(fmt.Sprintf("%s, none overtaken by anybody more often than promised.", count(f.waits, "wait")), told)
	}
	return nil
}

// A queue is who waits for one key.
type queue struct {
	waiting []*wait     // in order of their first refusals
	invoked map[int]int // event at which each worker's last acquire began
}

func (q *queue) served(worker int) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *wait) bool { return w.worker == worker })
}

// A wait is one client's, from its first refusal to its grant.
type wait struct {
	key         string
	worker      int
	since, told int           // events: invoked and refused for the first time
	overtaken   map[int][]int // grants to others, by worker
	worst       int           // the worker that overtook it most often
}

// by are the grants to the worst overtaker.
func (w *wait) by() []int { return w.overtaken[w.worst] }

// jain is Jain's fairness index of the grants of each client; 1 if there were none.
func jain(grants map[int]int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range grants {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(grants)) * squares)
}
