package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// Lease is that of programs on real servers: many are to be played, and in each clients wait for leases to end.
const Lease = 500 * time.Millisecond

// patience is for how long a run on real servers may go on: most are over in a few seconds.
const patience = time.Minute

// RunOnServers plays a program with a lock on a backend in real time. worker is the command of a process that each client runs in; empty:
// they run in this one. An error is of the harness, of a worker that does not do what the protocol says, or says that the run is not
// applicable (harness.NotApplicable). A run that a machine that is too busy may have spoilt is played again a few times, with longer leases
// at last: it stood still, so that nothing is known, or the lock seems to wait where it is to try once.
func RunOnServers(ctx context.Context, p Program, lock locks.Spec, backend harness.Backend, worker []string) (Outcome, error) {
	cfg, err := p.on(backend, lock)
	if err == nil {
		cfg, err = cfg.WithWorkers(worker)
	}
	if err != nil {
		return Outcome{}, err
	}
	return settled(cfg, func(cfg harness.Config) (Outcome, error) { return p.within(ctx, lock, cfg) })
}

// settled plays a run, and again a few times while a machine that is too busy may have spoilt it.
func settled(planned harness.Config, play func(harness.Config) (Outcome, error)) (Outcome, error) {
	cfg := planned
	for n := 1; ; n++ {
		out, err := play(cfg)
		still := err == nil && out.Stalled && len(out.Fails) == 0 && len(out.Unknown) > 0
		switch {
		case still && n == chances:
			return Outcome{}, errStalled
		case !still && (n == chances || !harness.SeemsToWait(err)):
			return out, err
		}
		cfg = planned.Again(n)
	}
}

// errStalled says that of a schedule nothing is known.
var errStalled = errors.New("lockbench, or the machine, stood still, and nothing can be said of it")

// within is what a run of the program comes to that may not go on for longer than patience.
func (p Program) within(ctx context.Context, lock locks.Spec, cfg harness.Config) (Outcome, error) {
	late := fmt.Errorf("it did not end within %v", patience)
	within, cancel := context.WithTimeoutCause(ctx, patience, late)
	defer cancel()
	out, err := p.outcome(within, lock, cfg)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		err = late
	}
	return out, err
}

// onServers explores programs where a run takes its time. What broke other locks comes first, then all programs in fair weather, and
// then one deviation after another.
func (e *explorer) onServers(ctx context.Context, programs []Program) error {
	if err := e.proven(ctx); err != nil {
		return err
	}
	searches := e.begin(ctx, programs)
	for i, s := range searches {
		if s == nil {
			continue
		}
		var tasks []task
		for rank := uint64(1); rank < s.space.Len(); rank++ {
			if e.mine(rank) {
				tasks = append(tasks, task{of: s, rank: rank})
			}
		}
		if e.inTurn(ctx, tasks); ctx.Err() != nil {
			return nil
		}
		e.found.Done = append(e.found.Done, programs[i].Name)
		e.found.Schedules += s.space.Len()
	}
	return nil
}

// begin plays programs in fair weather. A search is nil if its program could not be played: those that are not for the lock are meant no more.
func (e *explorer) begin(ctx context.Context, programs []Program) []*search {
	searches := make([]*search, len(programs))
	e.each(ctx, len(programs), func(i int) {
		programs[i].RealTTL = Lease
		s := &search{program: programs[i], space: NewSpace(programs[i], nil, e.lock)}
		var err error
		if s.fair, err = e.run(ctx, s.program, e.lock); err != nil {
			e.unplayed(err, s.program, nil)
			return
		}
		e.look(ctx, s.program, 0, nil, s.fair, e.mine(0))
		if s.program.laned() && e.Depth > 0 {
			s.space = NewSpace(s.program, s.fair.Points, e.lock)
		}
		searches[i] = s
	})
	return searches
}

// unplayed notes what cannot be had here, such as a wrong clock of a server, and what a worker cannot do.
func (e *explorer) unplayed(err error, p Program, ds []Deviation) {
	if !harness.NotApplicable(err) {
		return // it was given up
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, unfit := errors.AsType[*harness.UnfitError](err); unfit && len(ds) == 0 {
		e.lacking[p.Name] = true
		e.found.Meant = slices.DeleteFunc(e.found.Meant, func(name string) bool { return name == p.Name })
		return
	}
	what := p.Name
	for _, d := range ds {
		what = d.Act.Name
	}
	if !e.lacking[what] {
		e.lacking[what] = true
		e.found.GivenUp = append(e.found.GivenUp, fmt.Sprintf("%s cannot be had: %v", what, err))
	}
}

// task is a schedule that is to be played.
type task struct {
	of   *search
	rank uint64
	done func(played bool) // is called when it was, or when it could not be; nil: nobody is told
}

// inTurn plays schedules, and looks at each as soon as it has been played.
func (e *explorer) inTurn(ctx context.Context, tasks []task) {
	e.each(ctx, len(tasks), func(i int) {
		t := tasks[i]
		played := e.play(ctx, t.of.program, t.rank, t.of.space.At(t.rank))
		if ctx.Err() == nil && t.done != nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			t.done(played)
		}
	})
}

// play plays a schedule, unless something in it cannot be had here, and looks at it. It says whether it was played to its end.
func (e *explorer) play(ctx context.Context, p Program, rank uint64, ds []Deviation) bool {
	e.mu.Lock()
	lacking := e.lacking[ds[0].Act.Name]
	e.mu.Unlock()
	if lacking {
		return false
	}
	out, err := e.run(ctx, p.with(ds...), e.lock)
	if err != nil {
		e.unplayed(err, p, ds)
		return false
	}
	e.look(ctx, p, rank, ds, out, true)
	return true
}

// proven plays what broke other locks: their programs, and in them what happened there, at the commands that this lock sends in the same
// call.
func (e *explorer) proven(ctx context.Context) error {
	all, err := AllProven()
	if err != nil || len(e.Programs) > 0 { // others are meant
		return err
	}
	var programs []Program
	all = slices.DeleteFunc(all, func(p Proven) bool {
		_, err := p.Program.config(e.lock)
		return err != nil || len(p.Deviations) > e.Depth
	})
	for i := range all {
		if p := &all[i].Program; e.Guard != resource.None {
			p.Guard = e.Guard.String()
		}
		if !slices.ContainsFunc(programs, func(p Program) bool { return p.Name == all[i].Program.Name }) {
			programs = append(programs, all[i].Program)
		}
	}
	searches := e.begin(ctx, programs)
	var tasks []task
	for _, p := range all {
		s := searches[slices.IndexFunc(programs, func(of Program) bool { return of.Name == p.Program.Name })]
		if e.lacking[p.Program.Name] {
			continue
		}
		e.found.Proven.Meant++
		if s != nil {
			tasks = append(tasks, e.alike(s, p.Deviations)...)
		}
	}
	e.inTurn(ctx, tasks)
	return nil
}

// alike are the schedules of a search in which the same happens as in a schedule that broke another lock: at the same command if the lock
// sends it in that call, and otherwise at each that it sends there.
func (e *explorer) alike(s *search, proven []Deviation) (tasks []task) {
	if len(proven) == 0 {
		e.found.Proven.Played++ // in fair weather
		return nil
	}
	d := proven[0]
	var same bool
	for i, of := range s.space.first {
		if of.Act.Name != d.Act.Name || of.Reply != d.Reply || of.Client != d.Client || of.Call != d.Call || (of.Server == schedule.Register) != (d.Server == schedule.Register) {
			continue
		}
		one := task{of: s, rank: uint64(i) + 1}
		if of.What == d.What && !same {
			same, tasks = true, nil
		}
		if !same || of.What == d.What {
			tasks = append(tasks, one)
		}
	}
	met := len(tasks) > 0
	tasks = slices.DeleteFunc(tasks, func(t task) bool { return !e.mine(t.rank) })
	left := len(tasks)
	met = met && left == 0 // in another part
	over := func() {
		e.found.Proven.Played++
		if !met {
			e.found.Proven.Unmet++
		}
	}
	for i := range tasks {
		tasks[i].done = func(played bool) {
			met = met || played
			if left--; left == 0 {
				over()
			}
		}
	}
	if left == 0 {
		over()
	}
	return tasks
}

// chances is how often at most a schedule is played once more on servers to see a property broken again, or by another lock, and how often
// in a row one must break it to be a shorter one for it.
const chances = 3

// times is how often a schedule is played to know what it comes to.
func (o Options) times() int {
	if o.Servers != nil {
		return chances
	}
	return 1
}

// secondLook plays a schedule again on servers, and also with a lock that keeps a property in virtual time. It says whether
// the property is broken again, and which lock breaks it there as well. Real clocks and a busy machine may do what no lock is to blame for.
func (e *explorer) secondLook(ctx context.Context, p Program, ds []Deviation) func(property checker.Property, keptBy []string) (sure bool, sharedBy string) {
	seen, plays := map[string][]checker.Property{}, map[string]int{}
	fails := func(lock locks.Spec, property checker.Property) bool {
		for ; plays[lock.Name] < chances && !slices.Contains(seen[lock.Name], property); plays[lock.Name]++ {
			out, _ := e.Servers(ctx, p.with(ds...), lock) // what cannot be played breaks nothing
			seen[lock.Name] = append(seen[lock.Name], out.Fails...)
		}
		return slices.Contains(seen[lock.Name], property)
	}
	return func(property checker.Property, keptBy []string) (sure bool, sharedBy string) {
		if !fails(e.lock, property) {
			if ctx.Err() == nil {
				e.found.Differing = append(e.found.Differing, fmt.Sprintf("%s: %s", property, p.with(ds...)))
			}
			return false, ""
		}
		for _, name := range keptBy[:min(1, len(keptBy))] {
			if other, err := e.Among.Find(name); err == nil && fails(other, property) {
				return true, name
			}
		}
		return true, ""
	}
}
