package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
)

// ErrNoRank says that a program has no schedule of a rank, and ErrKept that its schedule does not break the property, or not by the lock's fault.
var ErrNoRank, ErrKept = errors.New("there is no such rank"), errors.New("it does not break the property")

// Ranked returns the finding of a property by the schedule of a rank, of a deviation at most, as a search would come upon it.
func Ranked(ctx context.Context, lock locks.Spec, program string, rank uint64, property checker.Property, opt Options) (Finding, error) {
	all, err := Programs(lock, opt.Guard)
	if err != nil {
		return Finding{}, err
	}
	opt.Profiles = &Profiles{of: map[string]*profile{}}
	e := &explorer{Options: opt, lock: lock, accused: map[trait]int{}, excused: map[trait]bool{}}
	e.usual = all[slices.IndexFunc(all, func(p Program) bool { return p.Name == usual })]
	i := slices.IndexFunc(all, func(p Program) bool { return p.Name == program })
	if i < 0 {
		return Finding{}, fmt.Errorf("there is no program %q that %s can play", program, lock.Name)
	}
	p := all[i]
	fair, err := e.run(ctx, p, lock)
	if err != nil {
		return Finding{}, err
	}
	space := NewSpace(p, fair.Points, lock)
	if rank >= space.Len() {
		return Finding{}, ErrNoRank
	}
	f := Finding{Program: p, Rank: rank, Seen: 1, Broken: []checker.Property{property}, Deviations: space.At(rank)}
	out, err := e.run(ctx, f.Schedule(), lock)
	if err != nil {
		return f, err
	}
	if !slices.Contains(out.Fails, property) {
		return f, fmt.Errorf("%w: schedule %d of program %s breaks %v, and not %s", ErrKept, rank, program, out.Fails, property)
	}
	for _, also := range out.Fails {
		keptBy, sharedBy := e.whose(ctx, also, p, f.Deviations)
		if also == property && sharedBy != "" {
			return f, fmt.Errorf("%w: %s does, too", ErrKept, sharedBy)
		}
		if also == property {
			f.KeptBy = keptBy
		} else if sharedBy == "" && len(keptBy) > 0 {
			f.Broken = append(f.Broken, also)
		}
	}
	return f, nil
}

// Less returns a schedule that is smaller than p by one thing and still breaks a property, which one of some locks keeps that keep it under p.
// ok says that there is one.
func Less(ctx context.Context, p Program, lock locks.Spec, property checker.Property, keptBy []string, opt Options) (less Program, ok bool, err error) {
	s := &shrinker{ctx: ctx, lock: lock, opt: opt, found: Finding{Broken: []checker.Property{property}, KeptBy: keptBy}}
	if err := s.measure(p); err != nil {
		return p, false, err
	}
	out, holds := s.holds(p)
	if !holds {
		return p, false, fmt.Errorf("it does not break %s, or no other lock keeps it", property)
	}
	s.whole, s.seeds = &out, seeds
	for _, c := range smaller(p) {
		if _, holds := s.holds(c); holds {
			return c, true, nil
		}
	}
	return p, false, nil
}

// At returns all deviations that begin at a point of the program of a lock.
func (p Program) At(at Point, lock locks.Spec) []Deviation { return p.at(at, lock, "1") }
