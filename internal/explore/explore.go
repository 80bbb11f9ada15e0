package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/locks"
)

// Finding is a schedule under which a lock breaks properties that are its own to keep.
type Finding struct {
	Program    Program
	Deviations []Deviation        // none: the lock breaks in fair weather
	Broken     []checker.Property // in the order of reports
	KeptBy     []string           // locks of its class that keep them; none: there is no lock to measure it by
	Seen       int                // how many schedules showed the first of Broken under deviations of this kind
}

// Schedule is the program with the deviations.
func (f Finding) Schedule() Program { return f.Program.with(f.Deviations...) }

// Weakness is what a lock breaks as others of its class do, under some kind of deviation.
type Weakness struct {
	Property checker.Property
	Kind     string // empty: in fair weather
	SharedBy string // a reference
}

// Found is what an exploration has come to.
type Found struct {
	Findings   []Finding
	Weaknesses []Weakness // each once
	Programs   int        // that the lock can play
	Explored   int        // of them, whole
	Runs       int        // of the lock
	Measures   int        // runs of references
	Missed     int        // runs of the lock in which something that was to happen did not
	GivenUp    []string   // schedules that the harness could not play to their end, and why
}

// Options of Explore.
type Options struct {
	Backend  harness.Backend
	Depth    int             // how many deviations a schedule has at most: 0 or 1
	Programs []string        // optional: those that are meant; all
	Among    locks.Catalogue // references are looked for among these
	Stranger bool            // the lock is none of Among, whatever its name
	Jobs     int             // runs at a time; 0: one
	// Done is told after each run how many there were, and in which program. Optional; it is called by one goroutine at a time.
	Done func(program string, runs int)
}

// kind is what is the same about deviations as far as locks are compared: what is done, and in the midst of what. It is empty if
// there is none.
func (p Program) kind(ds []Deviation) string {
	if len(ds) == 0 {
		return ""
	}
	act := ds[0].Act
	if act.lasts {
		return act.Name
	}
	return cmp.Or(act.kind, act.Name) + " during " + p.during(ds[0].Client, ds[0].Call)
}

// usual is the name of a program that every lock can play, in which it is held nearly all the time.
const usual = "relay"

// trait is a property under a kind of deviation.
type trait struct {
	property checker.Property
	kind     string
}

// explorer is one exploration.
type explorer struct {
	Options
	lock     locks.Spec
	usual    Program // one in which the lock is held nearly all the time
	profiles map[string]*profile
	accused  map[trait]int // the finding that has it
	excused  map[trait]bool

	mu    sync.Mutex
	found Found
}

// Explore plays each program of a lock, and each with each deviation from it, and measures what it finds by locks of its class.
// When ctx ends it returns what was found until then, without an error. An error is that of a program that is wrong.
func Explore(ctx context.Context, lock locks.Spec, opt Options) (Found, error) {
	e := &explorer{Options: opt, lock: lock, profiles: map[string]*profile{}, accused: map[trait]int{}, excused: map[trait]bool{}}
	all, err := Programs(lock)
	if err != nil {
		return Found{}, err
	}
	e.usual = all[slices.IndexFunc(all, func(p Program) bool { return p.Name == usual })]
	if len(opt.Programs) > 0 {
		all = slices.DeleteFunc(all, func(p Program) bool { return !slices.Contains(opt.Programs, p.Name) })
	}
	e.found.Programs = len(all)
	for _, p := range all {
		if e.program(ctx, p); ctx.Err() != nil {
			break
		}
		e.found.Explored++
	}
	return e.found, nil
}

// program explores one program.
func (e *explorer) program(ctx context.Context, p Program) {
	fair, err := e.run(ctx, p, e.lock)
	if err != nil {
		return // it is among what was given up
	}
	all := [][]Deviation{nil}
	if e.Depth > 0 {
		for _, at := range fair.Points {
			for _, d := range At(at, e.lock.Masters) {
				all = append(all, []Deviation{d})
			}
		}
	}
	outcomes := make([]Outcome, len(all))
	outcomes[0] = fair
	e.each(ctx, len(all)-1, func(i int) { outcomes[i+1], _ = e.run(ctx, p.with(all[i+1]...), e.lock) })
	for i, o := range outcomes {
		if ctx.Err() == nil {
			e.look(ctx, p, all[i], o.Fails)
		}
	}
}

// look takes what a schedule broke for what it is.
func (e *explorer) look(ctx context.Context, p Program, ds []Deviation, fails []checker.Property) {
	f := Finding{Program: p, Deviations: ds, Seen: 1}
	fails = slices.SortedStableFunc(slices.Values(fails), func(a, b checker.Property) int { return len(follows(a)) - len(follows(b)) })
	for _, property := range fails {
		t := trait{property, p.kind(ds)}
		if at, known := e.accused[trait{property, ""}]; known {
			e.found.Findings[at].Seen++
			continue // it breaks in fair weather
		}
		if at, known := e.accused[t]; known {
			e.found.Findings[at].Seen++
			continue
		}
		shared := func(of checker.Property) bool { return slices.Contains(fails, of) && e.excused[trait{of, t.kind}] }
		if slices.ContainsFunc(follows(property), shared) {
			continue
		}
		keptBy, sharedBy := e.measure(ctx, property, p, ds)
		if ctx.Err() != nil {
			break // what was measured before counts
		}
		switch {
		case sharedBy == "":
			f.Broken, f.KeptBy = append(f.Broken, property), keptBy
			e.accused[t] = len(e.found.Findings)
		case !e.excused[t]:
			e.excused[t] = true
			e.found.Weaknesses = append(e.found.Weaknesses, Weakness{property, t.kind, sharedBy})
		}
	}
	if len(f.Broken) > 0 {
		e.found.Findings = append(e.found.Findings, f)
	}
}

// run plays a program, and keeps count.
func (e *explorer) run(ctx context.Context, p Program, lock locks.Spec) (Outcome, error) {
	out, err := Run(ctx, p, lock, e.Backend)
	e.mu.Lock()
	defer e.mu.Unlock()
	if lock.Name == e.lock.Name {
		e.found.Runs++
		if out.Missed {
			e.found.Missed++
		}
	} else {
		e.found.Measures++
	}
	if err != nil && ctx.Err() == nil && !harness.NotApplicable(err) {
		e.found.GivenUp = append(e.found.GivenUp, fmt.Sprintf("%s with lock %s: %v", p, lock.Name, err))
	}
	if e.Done != nil {
		e.Done(p.Name, e.found.Runs+e.found.Measures)
	}
	return out, err
}

// each calls f with 0 up to n, so many at a time as there are jobs, until ctx ends.
func (e *explorer) each(ctx context.Context, n int, f func(int)) {
	slots := make(chan struct{}, max(e.Jobs, 1))
	var group sync.WaitGroup
	for i := range n {
		if slots <- struct{}{}; ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	group.Wait()
}
