package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
)

// search is an exploration of a lock, as explore and gate make it.
type search struct {
	lock   locks.Spec // with a worker's it has a name that no lock of the catalogue has
	opt    explore.Options
	budget time.Duration // 0: until all schedules are played
	out    string        // the directory in which schedules are kept, or noStore
	venue                // where the lock is played
}

// venue is where a lock is played. The zero value is in virtual time.
type venue struct {
	backend harness.Backend
	worker  []string // the command of a process that each client runs in; empty: they live in this one
	others  []string // the same for locks of the catalogue, which are this program's
	servers string   // the flags that say which server it is
	flag    string   // worker as the user gave it
	asked   string   // the lock that the user has asked the worker for
}

// errVirtualWorker says that a worker cannot be played in virtual time.
var errVirtualWorker = errors.New("a worker is a process of its own, and backend embedded is virtual time inside of one; use --backend process or docker")

// at returns the lock that is explored on real servers. command is that of a worker, as the user gave it, or empty; the worker says
// what its lock is unless lock names one whose promises it makes.
func (s *search) at(ctx context.Context, backend harness.Backend, command, lock string) (locks.Spec, error) {
	s.venue = venue{backend: backend, flag: command, asked: lock}
	if command != "" {
		var err error
		if s.worker, err = (&runFlags{worker: command}).workerCommand(backend); err != nil {
			return locks.Spec{}, err
		}
	}
	if s.worker == nil { // none
		s.flag = ""
	} else {
		var err error
		if s.others, err = (&runFlags{worker: workerSelf}).workerCommand(backend); err != nil {
			return locks.Spec{}, err
		}
	}
	own, err := described(ctx, s.worker, command, backend, lock, workersLock)
	if err != nil {
		return own, err
	}
	return s.onServers(own), nil
}

// onServers is where a lock is played. It returns the lock as it is told of: a stranger has the name of none of the catalogue.
func (s *search) onServers(own locks.Spec) locks.Spec {
	lock := own
	if s.opt.Stranger = s.flag != "" && s.flag != workerSelf; s.opt.Stranger {
		s.opt.Named = cmp.Or(s.asked, workersLock)
		if own.New != nil {
			lock.Name += " (worker)"
		}
	}
	s.opt.Servers = func(ctx context.Context, p explore.Program, of locks.Spec) (explore.Outcome, error) {
		if of.Name == lock.Name {
			return explore.RunOnServers(ctx, p, own, s.backend, s.worker)
		}
		return explore.RunOnServers(ctx, p, of, s.backend, s.others)
	}
	return lock
}

// players is how many processes play in virtual time.
func (s *search) players() int {
	if s.opt.Servers == nil {
		return s.opt.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// told is a finding as it is told: as short as it can be made, and with its name.
type told struct {
	explore.Finding
	place   explore.Finding // as it was found
	text    string          // its schedule
	file    string          // of the schedule; empty: it is in none
	page    string          // beside it, of the run; empty: it was not drawn
	command string          // that plays it; empty: the schedule is in no file
}

// look explores, until the budget or ctx ends, and makes what it finds as short as it can be.
func (s *search) look(ctx context.Context, how *exploreProgress) (explore.Record, []told, error) {
	if s.opt.Servers != nil {
		if err := s.backend.Ready(ctx); err != nil {
			return explore.Record{}, nil, failure(err)
		}
	}
	looking, cancel := context.WithCancel(ctx)
	if s.budget > 0 {
		looking, cancel = context.WithTimeout(ctx, s.budget)
	}
	defer cancel()
	opt := s.opt
	opt.Done = how.done
	opt.Found = func(explore.Finding) { how.found.Add(1) }
	opt.Play = func(_ context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		return s.opt.Play(ctx, p, lock) // a run that has begun is over in no time, and its process goes on to play
	}
	found, err := explore.Explore(looking, s.lock, opt)
	if err != nil {
		return explore.Record{}, nil, usage(err)
	}
	r := s.opt.Record(s.lock, found, buildVersion())
	if s.opt.Servers != nil {
		r.Backend, r.Worker = s.backend.Name, s.worker
	}
	places := explore.Places(found.Findings)
	all, err := s.settle(ctx, places, how)
	if err != nil {
		return r, nil, failure(err)
	}
	for i, place := range places {
		place.Anomaly = all[i].Anomaly
		r.Tell(place, all[i].text, all[i].command)
	}
	return r, all, nil
}

// settle makes findings as short as they can be, and keeps their schedules. On real servers that takes no longer than the search, and
// what is not done then is left as it is.
func (s *search) settle(ctx context.Context, places []explore.Finding, how *exploreProgress) (all []told, err error) {
	shrinking, cancel := context.WithCancel(ctx)
	if s.opt.Servers != nil && s.budget > 0 {
		shrinking, cancel = context.WithTimeout(ctx, s.budget)
	}
	defer cancel()
	telling, stop := outlasting(ctx, lastWords) // what was found is told, also by who is interrupted
	defer stop()
	first := map[string]told{}
	for n, place := range places {
		how.settling(n+1, len(places))
		small := place
		if shrinking.Err() == nil {
			small, _, err = explore.Shrink(shrinking, place, s.lock, s.opt)
			if err != nil && shrinking.Err() == nil {
				return nil, err
			}
			small.Broken = place.Broken
		}
		named, schedule, err := small.Told(telling, s.lock, s.opt)
		if telling.Err() != nil { // there is no time to see what its schedule comes to
			all = append(all, told{Finding: place, place: place})
			continue
		}
		if err != nil {
			return nil, err
		}
		one := told{Finding: named, place: place, text: schedule.String()}
		if before, known := first[one.text]; known {
			one.file, one.page, one.command = before.file, before.page, before.command
		} else if err := s.keep(ctx, n+1, &one); err != nil {
			return nil, err
		}
		first[one.text] = one
		all = append(all, one)
	}
	return all, nil
}

// lastWords is how long schedules are told of what was found by who is interrupted. It is less than the program has to end.
const lastWords = time.Second

// outlasting is a context that ends so long after another one.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// keep writes the schedule of the n-th finding into a file, if schedules are kept, and in virtual time the page of its run.
func (s *search) keep(ctx context.Context, n int, one *told) error {
	if s.out == noStore {
		return nil
	}
	one.file = filepath.Join(s.dir(), fmt.Sprintf("%d%s", n, scheduleSuffix))
	if err := os.MkdirAll(s.dir(), 0o755); err != nil {
		return fmt.Errorf("cannot keep the schedule: %w", err)
	}
	if err := gate.WriteFile(one.file, []byte(one.text)); err != nil {
		return err
	}
	one.command = s.replay(one.file)
	if s.opt.Servers != nil || ctx.Err() != nil {
		return nil // on real servers a run takes its time, who is interrupted has none, and the command makes the page
	}
	if err := s.draw(ctx, one); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// dir is the directory in which the schedules of the lock are kept.
func (s *search) dir() string { return filepath.Join(s.out, explore.Slug(s.lock.Name)) }

// replay is the command that plays a schedule as it was found.
func (s *search) replay(file string) string {
	command := "lockbench run " + quoted(file)
	if s.opt.Servers != nil {
		command += " --backend " + s.backend.Name + s.servers
	}
	if s.flag != "" {
		command += " --worker " + quoted(s.flag)
	}
	if s.asked != "" {
		command += " --lock " + s.asked
	}
	return command
}

// withPlayers lets f play in processes of this very program.
func withPlayers(n int, stderr io.Writer, f func(play explore.Player, how *exploreProgress) error) error {
	pool, err := newPlayers(n)
	if err != nil {
		return failure(err)
	}
	defer pool.Close()
	how := &exploreProgress{Teller: newProgress(stderr)}
	stop := ticking(how.tell)
	defer func() { stop(); how.End() }()
	return f(pool.Play, how)
}

// settling says that what was found is made shorter.
func (e *exploreProgress) settling(n, of int) {
	e.program.Store(fmt.Sprintf("making %d of %s shorter", n, words.Count(of, "finding")))
}
