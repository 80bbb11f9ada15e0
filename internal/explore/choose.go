package explore

import (
	"context"
	"slices"
	"sync"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
)

// Chooser lets somebody else choose which schedule is played, such as a fuzzer. It is safe for concurrent use, and plays one
// schedule at a time. What it says of a schedule does not depend on those before.
type Chooser struct {
	mu       sync.Mutex
	e        *explorer
	programs []Program
	searches []*search // by program; nil: it was not chosen yet
}

// NewChooser returns one for a lock. An error is that of a program that is wrong, or of a guard that does not go with the lock.
func NewChooser(lock locks.Spec, opt Options) (*Chooser, error) {
	e, all, err := newExplorer(lock, opt)
	if err != nil {
		return nil, err
	}
	return &Chooser{e: e, programs: all, searches: make([]*search, len(all))}, nil
}

// Programs returns between how many programs the first choice is.
func (c *Chooser) Programs() int { return len(c.programs) }

// Try plays the schedule that index chooses: with index(n), which returns a number from 0 up to n, a program, how many
// deviations, and each of them among those that can come then. found says that the lock breaks in it what locks of its class
// keep under deviations of the same kind. If ctx ends before that is known, it has found nothing.
func (c *Chooser) Try(ctx context.Context, index func(n int) int) (f Finding, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := index(len(c.programs))
	if c.searches[i] == nil {
		if c.searches[i] = c.e.fairWeather(ctx, c.programs[i]); c.searches[i] == nil {
			return Finding{}, false // the lock cannot play it
		}
	}
	s := c.searches[i]
	ds, out := c.choose(ctx, s, index)
	if ctx.Err() != nil {
		return Finding{}, false
	}
	return c.e.ofItsOwn(ctx, s.program, ds, out)
}

// choose plays a program with deviations, one after another: what the next one can be is known when the one before was played.
func (c *Chooser) choose(ctx context.Context, s *search, index func(n int) int) (ds []Deviation, out Outcome) {
	out = s.fair
	for range index(c.e.Depth + 1) {
		next := s.space.first
		if len(ds) > 0 {
			next = s.program.after(ds[len(ds)-1], out.Points, c.e.lock)
		}
		if len(next) == 0 {
			break
		}
		more := append(slices.Clone(ds), next[index(len(next))])
		played, err := c.e.run(ctx, s.program.with(more...), c.e.lock)
		if err != nil || played.Missed {
			break
		}
		ds, out = more, played
	}
	return ds, out
}

// ofItsOwn says what of an outcome is the lock's own fault.
func (e *explorer) ofItsOwn(ctx context.Context, p Program, ds []Deviation, out Outcome) (Finding, bool) {
	f := Finding{Program: p, Deviations: ds, Seen: 1}
	excused := map[checker.Property]bool{}
	for _, property := range slices.SortedStableFunc(slices.Values(out.Fails), func(a, b checker.Property) int { return len(follows(a)) - len(follows(b)) }) {
		if slices.ContainsFunc(follows(property), func(of checker.Property) bool { return excused[of] }) {
			continue
		}
		keptBy, sharedBy := e.whose(ctx, property, p, ds)
		if ctx.Err() != nil {
			return Finding{}, false
		}
		switch {
		case sharedBy != "":
			excused[property] = true
		case len(keptBy) > 0 || len(ds) == 0:
			f.Broken = append(f.Broken, property)
			if len(f.KeptBy) == 0 {
				f.KeptBy = keptBy
			}
		}
	}
	return f, len(f.Broken) > 0
}
