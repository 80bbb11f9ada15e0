package explore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// Finding is a schedule under which a lock breaks properties that are its own to keep.
type Finding struct {
	Program    Program
	Rank       uint64             // of the schedule in the Space of its program; of one that was drawn 0
	Deviations []Deviation        // none: the lock breaks in fair weather
	Broken     []checker.Property // in the order of reports
	KeptBy     []string           // locks of its class that keep them; none: there is no lock to measure it by
	Seen       int                // how many schedules of this shard showed the first of Broken under deviations of this kind
	Anomaly    string             // the code of the anomaly that it shows; empty: it has no name, or Told was not asked for it
	// Steady says that the schedule, which Shrink made short, comes out the same when what is sent takes more or less time on its way.
	Steady bool

	short Program  // what Shrink made of the schedule; without steps: it did not
	loose *Finding // before that, when nothing in it waited for what comes before; nil: Shrink made nothing of it
}

// Loose is the finding as Shrink had it before calls were made to wait for each other: a program, and what happens in it.
func (f Finding) Loose() Finding {
	if f.loose == nil {
		return f
	}
	return *f.loose
}

// Schedule is the program with the deviations, or what Shrink made of it.
func (f Finding) Schedule() Program {
	if len(f.short.Steps) > 0 {
		return f.short
	}
	return f.Program.with(f.Deviations...)
}

// Weakness is what a lock breaks as others of its class do, under some kind of deviation.
type Weakness struct {
	Property checker.Property `json:"property"`
	Kind     string           `json:"kind"`      // empty: in fair weather
	Column   string           `json:"column"`    // of the overview, in which the kind is
	SharedBy string           `json:"shared_by"` // a reference
}

// Found is what an exploration has come to.
type Found struct {
	Findings   []Finding
	Weaknesses []Weakness // each once
	Tried      []Tried    // each column once
	Meant      []string   // the programs that the lock can play, by name
	Done       []string   // those of them that were explored whole
	Schedules  uint64     // of the programs that were explored whole, of all shards
	Points     Points     // of the programs that were explored whole
	Runs       int        // of the lock
	Twice      int        // of them, played a second time to compare
	Differing  []string   // schedules that came out in two ways
	Drawn      Drawn
	Measures   int      // runs of references
	Unmeasured int      // times that the lock broke a property under a deviation in a program that no other lock of its class can play
	Proven     Progress // schedules that broke other locks, if the lock is played on real servers
	Missed     int      // runs of the lock in which something that was to happen did not
	GivenUp    []string // schedules that the harness could not play to their end, and why
}

// Progress is how far a part of an exploration came.
type Progress struct {
	Meant  int `json:"meant"`
	Played int `json:"played"`
	Unmet  int `json:"unmet"` // of those that were played, without what was to happen: the lock sends no command there, or it cannot be had
}

// Options of Explore.
type Options struct {
	Play Player
	// Servers plays the lock on real servers, where a run takes its time, and any other lock there by which it is measured once more.
	// What broke other locks is played first then, and what is found a second time; there is one deviation at most, and nothing is drawn.
	// Optional: the lock is played by Play, in virtual time, as those are by which it is measured.
	Servers  Player
	Profiles *Profiles       // of references; optional: none are known
	Resume   *Record         // of the same exploration, which goes on where it ended; optional
	Guard    resource.Guard  // of the sections of all locks
	Depth    int             // how many deviations a schedule has at most: 0, 1 or 2
	Samples  int             // how many schedules of two and three deviations are drawn besides
	Seed     uint64          // of what is drawn
	Shard    int             // the part of the schedules that is meant, of Shards; from 0 on
	Shards   int             // 0: there is one
	Programs []string        // optional: those that are meant; all
	Among    locks.Catalogue // references are looked for among these
	Stranger bool            // the lock is none of Among, whatever its name
	Named    string          // the lock of Among that schedules name in the place of a stranger
	Jobs     int             // runs at a time; 0: one
	// Found is told each finding as it is made. What lasts may yet turn out to be a weakness of the class in another program. Optional.
	Found func(Finding)
	// Done is told after each run how many there were, and in which program. Optional; it is called by one goroutine at a time.
	Done func(program string, runs int)
}

// usual is the name of a program that every lock can play, in which it is held nearly all the time.
const usual = "relay"

// explorer is one exploration.
type explorer struct {
	Options
	lock    locks.Spec
	usual   Program       // one in which the lock is held nearly all the time
	accused map[trait]int // the finding that has it
	excused map[trait]bool

	lacking map[string]bool // programs and acts that cannot be had on the servers, or with the worker

	looking sync.Mutex // what is measured is measured by one at a time
	mu      sync.Mutex
	found   Found
}

// Explore plays each program of a lock, and each with each deviation from it, and measures what it finds by locks of its class.
// When ctx ends it returns what was found until then, without an error. An error is that of a program that is wrong.
func Explore(ctx context.Context, lock locks.Spec, opt Options) (Found, error) {
	e, all, err := newExplorer(lock, opt)
	if err != nil {
		return Found{}, err
	}
	for _, p := range all {
		e.found.Meant = append(e.found.Meant, p.Name)
	}
	if opt.Resume != nil {
		if err := e.resume(*opt.Resume, all); err != nil {
			return Found{}, err
		}
	}
	if e.Servers != nil {
		err = e.onServers(ctx, all)
	} else {
		e.all(ctx, all)
	}
	e.found.Findings = e.settled()
	return e.found, err
}

// newExplorer returns one that has not played anything yet, and the programs that are meant.
func newExplorer(lock locks.Spec, opt Options) (*explorer, []Program, error) {
	e := &explorer{Options: opt, lock: lock, accused: map[trait]int{}, excused: map[trait]bool{}, lacking: map[string]bool{}}
	if e.Profiles == nil {
		e.Profiles = new(Profiles)
	}
	if e.Profiles.of == nil {
		e.Profiles.of = map[string]*profile{}
	}
	all, err := Programs(lock, opt.Guard)
	if err != nil {
		return nil, nil, err
	}
	e.usual = all[slices.IndexFunc(all, func(p Program) bool { return p.Name == usual })]
	if len(opt.Programs) > 0 {
		all = slices.DeleteFunc(all, func(p Program) bool { return !slices.Contains(opt.Programs, p.Name) })
	}
	return e, all, nil
}

// resume takes over what an exploration had come to that did not come to its end.
func (e *explorer) resume(r Record, programs []Program) error {
	if err := e.Options.Record(e.lock, e.found, r.Version).fits(r, e.Shard+1); err != nil {
		return fmt.Errorf("what is to be resumed is another exploration: %w", err)
	}
	for _, w := range r.Weaknesses {
		e.excused[trait{w.Property, w.Kind}] = true
	}
	e.found.Weaknesses = r.Weaknesses
	e.found.add(r, true)
	found, err := r.FindingsOf(programs)
	for _, f := range found {
		e.adopt(f)
	}
	return err
}

// all explores programs: each without deviations, then each with one, and then with two.
func (e *explorer) all(ctx context.Context, programs []Program) {
	var searches, before []*search // before: of those that were explored by who is resumed
	for _, p := range programs {
		if ctx.Err() != nil {
			return
		}
		if slices.Contains(e.found.Done, p.Name) {
			if e.Samples > 0 {
				before = append(before, e.fairWeather(ctx, p))
			}
			continue
		}
		s := e.fairWeather(ctx, p)
		switch {
		case ctx.Err() != nil:
			return
		case s == nil:
			e.found.Done = append(e.found.Done, p.Name) // as far as it can be
		default:
			searches = append(searches, s)
		}
	}
	for depth := range e.Depth + 1 {
		for _, s := range searches {
			switch depth {
			case 1:
				e.one(ctx, s)
			case 2:
				e.two(ctx, s)
			}
			if ctx.Err() != nil {
				return
			}
			if depth == e.Depth {
				e.found.Done = append(e.found.Done, s.program.Name)
				e.found.Schedules += s.space.Len()
				e.found.Points.add(s.points())
			}
		}
	}
	e.sample(ctx, slices.Concat(before, searches))
}

// often is how many runs there are for each that is played twice.
const often = 50

// run plays a program, and keeps count.
func (e *explorer) run(ctx context.Context, p Program, lock locks.Spec) (Outcome, error) {
	out, err := e.playerOf(lock, e.lock)(ctx, p, lock)
	again := e.count(ctx, p, lock, out, err)
	if err != nil || !again {
		return out, err
	}
	second, err := e.Play(ctx, p, lock)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.found.Twice++; err == nil && second.Digest != out.Digest {
		e.found.Differing = append(e.found.Differing, fmt.Sprintf("%s with lock %s", p, lock.Name))
	}
	return out, nil
}

// playerOf is who plays a lock, where another one is explored.
func (o Options) playerOf(lock, explored locks.Spec) Player {
	if o.Servers != nil && lock.Name == explored.Name {
		return o.Servers
	}
	return o.Play
}

// count keeps count of a run, and says whether to play it again.
func (e *explorer) count(ctx context.Context, p Program, lock locks.Spec, out Outcome, err error) (again bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		return false // it was cut short
	}
	if lock.Name == e.lock.Name {
		e.found.Runs++
		if out.Missed {
			e.found.Missed++
		}
		again = e.found.Runs%often == 0 && lock.Unseeded == "" && e.Servers == nil
	} else {
		e.found.Measures++
	}
	if err != nil && ctx.Err() == nil && !harness.NotApplicable(err) {
		e.found.GivenUp = append(e.found.GivenUp, fmt.Sprintf("%s with lock %s: %v", p, lock.Name, err))
	}
	if e.Done != nil {
		e.Done(p.Name, e.found.Runs+e.found.Measures)
	}
	return again
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
