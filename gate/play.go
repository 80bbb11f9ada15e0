package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/workloads"
)

// Watch is how a caller follows a gate. Both may be nil.
type Watch struct {
	// Now is a monotonic clock, for how long runs take.
	Now func() time.Duration
	// Done is called after each run, one at a time, with how much of the plan is done: a
	// share of its cost, not of its runs.
	Done func(row Row, runs int, share float64)
}

// Play plays the plan's runs, jobs at a time. When ctx ends it returns what was done until
// then. A run that fails costs its own row; an error means that none can be played.
func (p *Plan) Play(ctx context.Context, jobs int, watch Watch) (Results, error) {
	if watch.Now == nil {
		watch.Now = func() time.Duration { return 0 }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := watch.Now()
	total := 0
	for _, i := range p.items {
		total += i.weight
	}

	var mu sync.Mutex
	rows, next, done, cost := make([]*Row, len(p.items)), 0, 0, 0
	width := &width{jobs: max(1, min(jobs, len(p.items)))}
	var start startup
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(p.items) || ctx.Err() != nil || width.spare() {
			return 0, false
		}
		next++
		return next - 1, true
	}
	keep := func(i int, row Row, begun bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		if start.ended(begun, err); start.hopeless() {
			cancel(&unplayedError{err}) // such as a missing redis-server: so would all others
			return
		}
		rows[i] = &row
		done, cost = done+1, cost+p.items[i].weight
		if watch.Done != nil {
			watch.Done(row, done, float64(cost)/float64(total))
		}
	}
	var wg sync.WaitGroup
	for range width.jobs {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				from := watch.Now()
				row, res, err := p.settle(ctx, p.items[i], width)
				if ctx.Err() != nil && err != nil {
					return // it was cut short
				}
				if p.items[i].subject != nil {
					if row = p.bench.weigh(ctx, p.items[i], row); ctx.Err() != nil {
						return // and so was what it is measured by
					}
				}
				row = p.decided(row)
				row.Took = watch.Now() - from
				_, died := errors.AsType[*harness.DeathError](err) // of the others nothing is known
				keep(i, row, err == nil || len(res.Events) > 0 || died, err)
			}
		})
	}
	wg.Wait()
	if first, ok := errors.AsType[*unplayedError](context.Cause(ctx)); ok {
		return Results{}, first.err
	}
	if ctx.Err() == nil && start.failures == len(p.items) && start.alike && !start.begun {
		return Results{}, start.err
	}
	res := p.results()
	res.Stalls = width.told()
	for _, row := range rows {
		if row != nil {
			res.Rows = append(res.Rows, *row)
		}
	}
	res.Took = watch.Now() - began
	return res, nil
}

// unplayedError is why no run could be played.
type unplayedError struct{ err error }

func (e *unplayedError) Error() string { return e.err.Error() }

// startup tells a run that failed from a machine on which none can be played.
type startup struct {
	begun    bool  // some run has
	err      error // of the first that did not
	failures int   // before one began
	alike    bool  // all of them
}

func (s *startup) ended(begun bool, err error) {
	switch s.begun = s.begun || begun; {
	case s.begun:
	case s.failures == 0:
		s.err, s.failures, s.alike = err, 1, true
	default:
		s.failures++
		s.alike = s.alike && err.Error() == s.err.Error()
	}
}

// hopeless says that no run has begun, and that several failed in the same way.
func (s *startup) hopeless() bool { return !s.begun && s.alike && s.failures > 1 }

// judge says what became of a run.
func (it item) judge(ctx context.Context, res harness.Result, err error) Row {
	row := it.row
	if err == nil {
		err = certified(ctx, res)
	}
	if err != nil {
		row.Outcome, row.Reason = it.excuse(err), err.Error()
		if step, ok := errors.AsType[*workloads.StepError](err); ok {
			row.Reason = step.Error() // and not what broke because of it
		}
		return row
	}
	row.Outcome = NotApplicable
	for _, j := range res.Expected {
		f := Finding{Judged: j}
		if !j.Met {
			f.Story = res.Report.Result(j.Property).Story
		}
		row.Judged, row.Outcome = append(row.Judged, f), worse(row.Outcome, f.outcome())
	}
	if it.subject != nil {
		row.Causes = res.Causes
	}
	if len(res.Expected) == 0 {
		row.Outcome, row.Reason = Unknown, "nothing was judged"
	}
	return row
}

// decided is row with the properties alone that decide.
func (p *Plan) decided(row Row) Row {
	if len(p.opt.FailOn) == 0 || len(row.Judged) == 0 {
		return row
	}
	row.Judged = slices.DeleteFunc(row.Judged, func(f Finding) bool { return !slices.Contains(p.opt.FailOn, f.Property) })
	if row.Outcome = row.judged(); len(row.Judged) == 0 {
		row.Reason = fmt.Sprintf("the run has nothing to do with %v", p.opt.FailOn)
	}
	return row
}

// excuse says what a run is worth that did not come to its end.
func (it item) excuse(err error) Outcome {
	if _, ok := errors.AsType[*harness.NeedsError](err); ok {
		return NotApplicable
	}
	if _, ok := errors.AsType[*harness.DeathError](err); ok || it.subject == nil {
		return Failed
	}
	// The script was written for other locks.
	if _, ok := errors.AsType[*workloads.UnplayableError](err); ok {
		return NotApplicable
	}
	if harness.Unplayed(err) {
		return Unknown
	}
	return Failed
}
