package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
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
	g := &playing{
		plan: p, watch: watch, cancel: cancel, width: &width{jobs: max(1, min(jobs, len(p.items)))}, rows: make([]*Row, len(p.items)),
	}
	for _, i := range p.items {
		g.total += i.weight
	}
	var wg sync.WaitGroup
	for range g.width.jobs {
		wg.Go(func() { g.play(ctx) })
	}
	wg.Wait()
	if first, ok := errors.AsType[*unplayedError](context.Cause(ctx)); ok {
		return Results{}, first.err
	}
	res := p.results()
	res.Stalls = g.width.told()
	for _, row := range g.rows {
		if row != nil {
			res.Rows = append(res.Rows, *row)
		}
	}
	res.Server = servers(res.Rows)
	res.Took = watch.Now() - began
	return res, nil
}

// servers are the names and versions of the servers that runs were played on.
func servers(rows []Row) string {
	var all []string
	for _, row := range rows {
		if row.Server != "" && !slices.Contains(all, row.Server) {
			all = append(all, row.Server)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// judge says what became of a run.
func (it item) judge(res harness.Result, err error) Row {
	row := it.row
	row.Server = res.Meta.Server
	if err == nil {
		err = certified(res)
	}
	if err != nil {
		row.Outcome, row.Reason = it.excuse(err), err.Error()
		if step, ok := errors.AsType[*player.StepError](err); ok {
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
	if _, ok := errors.AsType[*harness.UnfitError](err); ok {
		return NotApplicable
	}
	if _, ok := errors.AsType[*harness.DeathError](err); ok || it.subject == nil {
		return Failed
	}
	// The script was written for other locks.
	if _, ok := errors.AsType[*player.UnplayableError](err); ok {
		return NotApplicable
	}
	if harness.Unplayed(err) {
		return Unknown
	}
	return Failed
}
