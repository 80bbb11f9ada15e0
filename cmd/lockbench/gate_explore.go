package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// explore looks for schedules that nobody wrote, for as long as --explore says: of the user's own lock, or of the catalogue's sound ones,
// each of which gets as much of the time as any other, and what those before it left over.
func (f *gateFlags) explore(ctx context.Context, opt gate.Options, plan *gate.Plan, stderr io.Writer) (all []explore.Record, err error) {
	if opt.Exploring == 0 {
		return nil, nil
	}
	searches, err := f.searches(ctx, opt, plan)
	if err != nil || len(searches) == 0 {
		return nil, err
	}
	err = withPlayers(searches[0].players(), stderr, func(play explore.Player, how *exploreProgress) error {
		began := time.Now()
		for i, s := range searches {
			s.opt.Play = play
			s.budget = max((opt.Exploring-time.Since(began))/time.Duration(len(searches)-i), 1)
			r, _, err := s.look(ctx, how)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	})
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted while schedules were looked for that nobody wrote; what was found until then is told")
	}
	return all, err
}

// searches are those of a gate, in the order in which they are made.
func (f *gateFlags) searches(ctx context.Context, opt gate.Options, plan *gate.Plan) ([]*search, error) {
	profiles := new(explore.Profiles)
	one := func(lock locks.Spec) *search {
		return &search{lock: lock, out: exploredIn(f.store), opt: explore.Options{
			Profiles: profiles, Depth: usualDepth, Shards: 1, Among: libraries.Catalogue(), Jobs: runtime.GOMAXPROCS(0),
		}}
	}
	if opt.Subject == nil {
		var all []*search
		for _, lock := range plan.Sound() {
			all = append(all, one(lock))
		}
		return all, nil
	}
	s := one(opt.Subject.Lock)
	s.opt.Guard, s.opt.Shard, s.opt.Shards = resource.None, opt.Shard.Index-1, opt.Shard.Of
	if opt.Subject.Guard != nil {
		s.opt.Guard = *opt.Subject.Guard
	}
	if f.worker == "" {
		return []*search{s}, nil
	}
	var err error
	s.opt.Jobs = f.jobs
	s.lock, err = s.at(ctx, opt.Backend, f.worker, f.lock)
	s.servers = f.servers.arguments()
	return []*search{s}, err
}

// canExplore returns what of --explore cannot be.
func canExplore(opt gate.Options) error {
	switch {
	case opt.Exploring < 0:
		return fmt.Errorf("--explore is %v, want more than 0", opt.Exploring)
	case opt.Exploring > 0 && opt.Backend.UsersOwn && opt.Subject != nil && len(opt.Subject.Worker) > 0:
		return errors.New("--explore does to servers what must not be done to those of backend external; use --backend process or docker")
	}
	return nil
}
