package gate

import (
	"context"
	"errors"
	"sync"

	"github.com/lockbench/lockbench/internal/harness"
)

// playing is a plan that is being played, by several players at once.
type playing struct {
	plan   *Plan
	watch  Watch
	cancel context.CancelCauseFunc
	width  *width
	total  int // cost of all runs

	mu         sync.Mutex // of what follows
	next       int
	rows       []*Row // by place in the plan; nil: not played
	done, cost int
	start      startup
}

// play is what a player does: one run after another, as long as there are any.
func (g *playing) play(ctx context.Context) {
	p := g.plan
	for i, ok := g.take(ctx); ok; i, ok = g.take(ctx) {
		from := g.watch.Now()
		row, res, err := p.settle(ctx, p.items[i], g.width)
		if ctx.Err() != nil && err != nil {
			return // it was cut short
		}
		if p.items[i].subject != nil {
			if row = p.bench.weigh(ctx, p.items[i], row); ctx.Err() != nil {
				return // and so was what it is measured by
			}
		}
		row = p.decided(row)
		row.Took = g.watch.Now() - from
		_, died := errors.AsType[*harness.DeathError](err) // of the others nothing is known
		g.keep(i, row, err == nil || len(res.Events) > 0 || died, err)
	}
}

// take is the place of the next run, if the player that asks is to play one.
func (g *playing) take(ctx context.Context) (int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == len(g.plan.items) || ctx.Err() != nil || g.width.spare() {
		return 0, false
	}
	g.next++
	return g.next - 1, true
}

// keep keeps what became of a run, and ends the gate if none can be played.
func (g *playing) keep(i int, row Row, begun bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.start.ended(begun, err); g.start.hopeless(len(g.plan.items)) {
		g.cancel(&unplayedError{g.start.err}) // such as a missing redis-server: so would all others
		return
	}
	g.rows[i] = &row
	g.done, g.cost = g.done+1, g.cost+g.plan.items[i].weight
	if g.watch.Done != nil {
		g.watch.Done(row, g.done, float64(g.cost)/float64(g.total))
	}
}

// unplayedError is why no run could be played.
type unplayedError struct{ err error }

func (e *unplayedError) Error() string { return e.err.Error() }

// startup tells a run that failed from a machine on which none can be played.
type startup struct {
	begun    bool  // some run has
	err      error // of the first that did not
	failures int   // before one began
}

// several is how many runs fail, and none begins, before the others are given up.
const several = 4

func (s *startup) ended(begun bool, err error) {
	switch s.begun = s.begun || begun; {
	case s.begun:
	case s.failures == 0:
		s.err, s.failures = err, 1
	default:
		s.failures++
	}
}

// hopeless reports whether no run of n has begun, and several failed, or all.
func (s *startup) hopeless(n int) bool {
	return !s.begun && s.failures > 0 && s.failures >= min(several, n)
}
