package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// Fairness is what judgeFairness judges.
const Fairness Property = "fairness"

func fairnessSpec() spec {
	return spec{
		property:   Fairness,
		definition: "nobody is overtaken more often than the lock promises; told, and not judged, for locks that promise nothing",
		judge:      judgeFairness,
		engine:     "overtaking count",
		counts:     []histories.F{histories.Acquire},
	}
}

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
func judgeFairness(rec *record, _ Options) judge { return rec.fair }

// fairness is who waited and who was served, as it happened.
type fairness struct {
	most   int               // times that a client may be overtaken by another; 0 or less: nothing is promised
	queues map[string]*queue // by key
	last   *queue            // as large histories have one key
	grants map[int]*int      // by worker
	waits  int
	worst  *wait
}

func newFairness(most int) *fairness {
	return &fairness{most: most, queues: make(map[string]*queue), grants: make(map[int]*int)}
}

// begin takes an acquire that is invoked.
func (f *fairness) begin(o *histories.Op) {
	if worker := o.Invoke.Worker; f.grants[worker] == nil {
		f.grants[worker] = new(int)
	}
}

// end takes an acquire that returned.
func (f *fairness) end(o *histories.Op) {
	if o.Complete.Invalid() {
		return
	}
	q, worker := f.of(o.Invoke.Key), o.Invoke.Worker
	switch o.Complete.Type {
	case histories.Fail:
		if !slices.ContainsFunc(q.waiting, func(w *wait) bool { return w.worker == worker }) {
			q.waiting = append(q.waiting, &wait{key: q.key, worker: worker, asked: calledBy(o), overtaken: make(map[int]*overtaking)})
			f.waits++
		}
	case histories.OK:
		*f.grants[worker]++
		q.served(worker)
		for _, w := range q.waiting {
			if o.Invoke.Index < w.asked.returned.Event {
				continue
			}
			w.overtake(worker, o, f.most)
			if f.worst == nil || w.times() > f.worst.times() {
				f.worst = w
			}
		}
	default:
		q.served(worker) // it may have got it
	}
}

// of is who waits for a key.
func (f *fairness) of(key string) *queue {
	if f.last != nil && f.last.key == key {
		return f.last
	}
	q := f.queues[key]
	if q == nil {
		q = &queue{key: strings.Clone(key)}
		f.queues[q.key] = q
	}
	f.last = q
	return q
}

func (f *fairness) forget(key string) {
	if q := f.queues[key]; q != nil && len(q.waiting) == 0 {
		delete(f.queues, key)
		f.last = nil
	}
}

func (f *fairness) observe(context.Context, *stretch) error { return nil }

func (f *fairness) verdict(res *finding) error {
	worst, most := f.worst, f.most
	told := fmt.Sprintf("Jain's index of %s is %.2f.", words.Count(len(f.grants), "client"), jain(f.grants))
	if worst != nil {
		told = paragraph(fmt.Sprintf("At worst, %s waited for %s from %s and was overtaken by %s %s.",
			histories.WorkerName(worst.worker), worst.key, words.Seconds(worst.asked.invoked.Time), histories.WorkerName(worst.by), words.Times(worst.times())), told)
	}
	switch {
	case most <= 0:
		res.Verdict = NotApplicable
		res.Story = paragraph("The lock promises no fairness.", told)
	case f.waits == 0:
		res.Story = paragraph("Nobody had to wait.", told)
	case worst != nil && worst.times() > most:
		res.prove(worst.conflict(), paragraph(told, fmt.Sprintf("The lock promises %s at most.", words.Times(most))))
	default:
		res.Verdict = Pass
		res.Story = paragraph(fmt.Sprintf("%s, none overtaken by anybody more often than promised.", words.Count(f.waits, "wait")), told)
	}
	return nil
}

// A queue is who waits for one key.
type queue struct {
	key     string
	waiting []*wait // in order of their first refusals
}

func (q *queue) served(worker int) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *wait) bool { return w.worker == worker })
}

// A wait is one client's, from its first refusal to its grant.
type wait struct {
	key       string
	worker    int
	asked     called              // and refused for the first time
	overtaken map[int]*overtaking // by worker
	by        int                 // the worker that overtook it most often
}

// An overtaking is how often a client was granted what another waited for.
type overtaking struct {
	times int
	first []called // as many as are proof
}

// overtake takes a grant to a worker.
func (w *wait) overtake(worker int, by *histories.Op, most int) {
	o := w.overtaken[worker]
	if o == nil {
		o = &overtaking{}
		w.overtaken[worker] = o
	}
	if o.times++; o.times <= most+1 {
		o.first = append(o.first, calledBy(by))
	}
	if o.times > w.times() {
		w.by = worker
	}
}

// times is how often the worst overtaker was granted it.
func (w *wait) times() int {
	if o := w.overtaken[w.by]; o != nil {
		return o.times
	}
	return 0
}

// conflict is the evidence that it was overtaken too often.
func (w *wait) conflict() *conflict {
	calls := append([]called{w.asked}, w.overtaken[w.by].first...)
	c := &conflict{witness: []int{w.asked.invoked.Event}, called: calls}
	for _, o := range calls {
		c.witness = append(c.witness, o.returned.Event)
	}
	(&stretch{}).draw(c)
	return c
}

// jain is Jain's fairness index of the grants of each client; 1 if there were none.
func jain(grants map[int]*int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range grants {
		sum += float64(*n)
		squares += float64(*n) * float64(*n)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(grants)) * squares)
}
