package gate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/words"
)

// mostAgain is how often a run is played again of which nothing is known because lockbench, or the
// machine, stood still or was too busy.
const mostAgain = 3

// Stalls are runs that lockbench, or the machine, stood still in or was too busy for.
type Stalls struct {
	Again int `json:"again"` // runs that were played again
	Jobs  int `json:"jobs"`  // runs at a time in the end
}

// sentence tells of them; empty if there were none.
func (s Stalls) sentence() string {
	if s.Again == 0 {
		return ""
	}
	return fmt.Sprintf("Lockbench, or the machine, stood still or was too busy: %s had to be played again, in the end with %s at a time.",
		words.Count(s.Again, "run"), words.Count(s.Jobs, "run"))
}

// with joins those of two shards.
func (s Stalls) with(o Stalls) Stalls {
	switch {
	case s.Again == 0:
		return o
	case o.Again == 0:
		return s
	}
	return Stalls{Again: s.Again + o.Again, Jobs: min(s.Jobs, o.Jobs)}
}

// width is how many runs are played at a time: fewer from each stall on that spoils one, as the
// machine shows what it can bear.
type width struct {
	mu    sync.Mutex
	jobs  int // wanted
	quit  int // players that have to leave
	again int
}

// narrow halves the width, down to one.
func (w *width) narrow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again++
	fewer := max(1, w.jobs/2)
	w.quit, w.jobs = w.quit+w.jobs-fewer, fewer
}

// spare reports whether the player that asks has to leave.
func (w *width) spare() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quit == 0 {
		return false
	}
	w.quit--
	return true
}

func (w *width) told() Stalls {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.again == 0 {
		return Stalls{}
	}
	return Stalls{Again: w.again, Jobs: w.jobs}
}

// settle plays a run, and again if a machine that is too busy spoilt it.
func (p *Plan) settle(ctx context.Context, planned item, w *width) (Row, harness.Result, error) {
	i, ttl := planned, time.Duration(0)
	for n := 1; ; n++ {
		i.cfg.Command = p.opt.Command(i.cfg, i.row.Remedy, ttl)
		i.row.Command = i.cfg.Command
		res, err := p.opt.Run(ctx, i.cfg)
		row := i.judge(res, err)
		waits := harness.SeemsToWait(err) && !i.cfg.Backend.Virtual()
		if n > mostAgain && waits {
			p.waits.Store(true)
		}
		switch {
		case n > mostAgain || ctx.Err() != nil:
			return row, res, err
		case waits && !p.waits.Load(): // it may be the lock, and then fewer runs beside it are no help
		case i.spoilt(row, res, err):
			w.narrow()
		default:
			return row, res, err
		}
		if i.cfg = planned.cfg.Again(n); i.cfg.TTL != planned.cfg.TTL {
			ttl = i.cfg.TTL
		}
	}
}

// spoilt reports whether a machine that is too busy leaves anything of a run unknown, or answered too late for what is found not to
// depend on that. On real servers it may be why a step of a script could not be played with a lock that it was written for, or why nothing
// came of it; with any other lock that is what is to be expected.
func (it item) spoilt(row Row, res harness.Result, err error) bool {
	written := it.subject == nil && !it.cfg.Backend.Virtual()
	if err != nil {
		return written && harness.Unplayed(err) && !harness.NotApplicable(err)
	}
	return (res.Busy() || written) && row.doubtful() || row.accuses() && res.Slow()
}

// accuses reports whether anything failed that was not meant to.
func (r Row) accuses() bool {
	return slices.ContainsFunc(r.Judged, func(f Finding) bool { return !f.Met && f.Got == checker.Fail })
}

// doubtful reports whether anything that was judged came out unknown and was not meant to.
func (r Row) doubtful() bool {
	return r.Outcome == Unknown || slices.ContainsFunc(r.Judged, func(f Finding) bool { return !f.Met && f.Got == checker.Unknown })
}
