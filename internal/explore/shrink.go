package explore

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/workloads/schedule"
)

// Shrink leaves out of the schedule of a finding what it can do without: clients, calls and sleeps. What is left still breaks the
// first property of the finding, on real servers several times in a row, everything in it happens, and a reference that kept the property still keeps it. runs is how many
// were played.
func Shrink(ctx context.Context, f Finding, lock locks.Spec, opt Options) (small Finding, runs int, err error) {
	var ref *locks.Spec
	if len(f.KeptBy) > 0 {
		found, err := opt.Among.Find(f.KeptBy[0])
		if err != nil {
			return f, 0, err
		}
		ref = &found
	}
	holds := func(c Finding) bool {
		runs++
		for range opt.times() {
			out, err := opt.playerOf(lock, lock)(ctx, c.Schedule(), lock)
			if err != nil || out.Missed || !slices.Contains(out.Fails, f.Broken[0]) {
				return false
			}
		}
		if ref == nil {
			return true
		}
		out, err := opt.Play(ctx, c.Schedule(), *ref)
		return harness.NotApplicable(err) || err == nil && !slices.Contains(out.Fails, f.Broken[0]) && !slices.Contains(out.Unknown, string(f.Broken[0]))
	}
	for again := true; again; {
		again = false
		for _, c := range candidates(f) {
			if ctx.Err() != nil {
				return f, runs, ctx.Err()
			}
			if holds(c) {
				f, again = c, true
				break
			}
		}
	}
	return f, runs, nil
}

// candidates are the schedules that are smaller than a finding's by one thing, those that leave out most first.
func candidates(f Finding) (all []Finding) {
	smaller := func(p Program, ds []Deviation) {
		c := f
		c.Program, c.Deviations = p, ds
		all = append(all, c)
	}
	for i := range f.Deviations {
		smaller(f.Program, slices.Delete(slices.Clone(f.Deviations), i, i+1))
	}
	if f.Program.Threads > 0 && len(f.Deviations) == 0 { // whose command is met where connections are shared would change
		p := f.Program
		p.Threads = 0
		smaller(p, nil)
	}
	for _, s := range f.Program.Steps {
		if s.Verb == schedule.Lane && f.Program.lanes() > 1 && !slices.ContainsFunc(f.Deviations, func(d Deviation) bool { return d.Client == s.Who[0] }) {
			smaller(f.Program.without(s.Who[0]), f.Deviations)
		}
	}
	for _, s := range f.Program.Steps {
		if s.Verb != schedule.Lane || len(s.Lane) == 1 {
			continue
		}
		for i := len(s.Lane) - 1; i >= 0; i-- {
			p, call := f.Program.shorter(s.Who[0], i)
			if ds, ok := renumbered(f.Deviations, s.Who[0], call); ok {
				smaller(p, ds)
			}
		}
	}
	return all
}

// renumbered are deviations when a call of a client is left out. ok says that none of them is in its midst.
func renumbered(ds []Deviation, client string, call int) (all []Deviation, ok bool) {
	for _, d := range ds {
		if d.Client == client && call > 0 {
			if d.Call == call {
				return nil, false
			}
			if d.Call > call {
				d.Call--
			}
		}
		all = append(all, d)
	}
	return all, true
}
