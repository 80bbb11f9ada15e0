package explore

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// Shrink leaves out of the schedule of a finding what it can do without: clients, calls, sleeps and deviations. Then it lets each call
// wait for what had ended before it (gated), so that the schedule comes out on real servers as it does in virtual time. What is left, played
// as lockbench run plays it, still breaks the first property of the finding, everything in it happens, and a reference that kept the
// property still keeps it. A finding that does not break it when it is played so is returned as it is. Whether it does with any seed, and so on
// real servers, is said by Steady; of a lock on real servers it is played several times in a row. runs is how many were played.
func Shrink(ctx context.Context, f Finding, lock locks.Spec, opt Options) (small Finding, runs int, err error) {
	s := &shrinker{ctx: ctx, lock: lock, opt: opt, found: f, seeds: uint64(opt.times())}
	f.short, f.loose = Program{}, nil
	if err := s.measure(f.Schedule()); err != nil {
		return f, s.runs, err
	}
	out, holds := s.holds(f.Schedule())
	if !holds {
		return f, s.runs, ctx.Err()
	}
	s.whole = &out
	for again := true; again; {
		again = false
		for _, c := range candidates(f) {
			if _, holds := s.holds(c.Schedule()); holds {
				f, again = c, true
				break
			}
		}
	}
	loose := f
	f.loose = &loose
	gated := s.gated(f.Schedule())
	if opt.Servers == nil {
		s.seeds = seeds
		if _, holds := s.holds(gated); !holds {
			s.seeds = 1
		}
	}
	f.short = s.least(gated)
	if compact, names := f.short.compact(); len(names) > 0 {
		if _, holds := s.holds(compact); holds {
			f.short = compact
			f.renamed(names)
		}
	}
	f.renumber()
	if opt.Servers == nil {
		s.seeds = mostSeeds
	}
	_, f.Steady = s.holds(f.short)
	f.Steady = f.Steady && !f.short.counts() && !s.queued(f.short) && (!s.blind || s.stray || !f.Program.laned())
	return f, s.runs, ctx.Err()
}

// seeds are how many a short schedule is played with, each with other times on the way, and mostSeeds those by which it counts as steady.
const (
	seeds     = 3
	mostSeeds = 60
)

// queued reports whether renewals may wait beside other commands at a server that stands still: which of them it executes first
// when it goes on is up to it.
func (s *shrinker) queued(p Program) bool {
	return s.lock.Class().Renews && p.Has(func(s schedule.Step) bool { return s.Verb == schedule.Start && s.What == "stall" })
}

// counts reports whether a rule counts commands of a client that polls: how many there are is not the same on real servers.
func (p Program) counts() bool {
	return p.Has(func(s schedule.Step) bool { return s.Verb == schedule.At && s.Nth > mostPolls })
}

// shrinker plays what may be left of a finding.
type shrinker struct {
	ctx   context.Context //nolint:containedctx // of one call of Shrink
	lock  locks.Spec
	opt   Options
	found Finding
	ref   *locks.Spec // nil: there is none
	blind bool        // nothing was certain of the reference yet
	stray bool        // that is so as it does not send the command that the finding is about
	runs  int

	whole *Outcome // of the whole schedule; nil: it is not known yet
	seeds uint64   // that a schedule must do with; 0: the first
}

// measure looks for the reference that keeps the property: the first of which that is certain, or the first. Nothing is certain of one that
// does not send the command that the finding is about, or that nobody else wants when somebody has it.
func (s *shrinker) measure(p Program) error {
	for _, name := range s.found.KeptBy {
		ref, err := s.opt.Among.Find(name)
		if err != nil {
			return err
		}
		out, err := s.play(p, ref)
		if harness.NotApplicable(err) || err == nil && slices.Contains(out.Fails, s.found.Broken[0]) {
			continue
		}
		if err != nil {
			return err
		}
		if !s.doubtful(out) {
			s.ref, s.blind, s.stray = &ref, false, false
			return nil
		}
		if s.ref == nil {
			s.ref, s.blind, s.stray = &ref, true, out.Missed
		}
	}
	return nil
}

func (s *shrinker) play(p Program, lock locks.Spec) (Outcome, error) {
	p.Causes = true
	s.runs++
	return s.opt.playerOf(lock, s.lock)(s.ctx, p, lock)
}

// holds reports whether a schedule still shows what the finding shows, and what came of it.
func (s *shrinker) holds(p Program) (out Outcome, ok bool) {
	if p.Check() != nil {
		return out, false
	}
	kept, blind := s.kept(p)
	if !kept {
		return out, false
	}
	for seed := max(s.seeds, 1); seed > 0; seed-- {
		p.Seed = seed
		var err error
		out, err = s.play(p, s.lock)
		if s.ctx.Err() != nil || err != nil || out.Missed || !slices.Contains(out.Fails, s.found.Broken[0]) || s.vaguer(out) {
			return out, false
		}
	}
	s.blind = blind
	return out, true
}

// kept reports whether the reference keeps the property, or, blind, does not break it as far as can be said.
func (s *shrinker) kept(p Program) (ok, blind bool) {
	if s.ref == nil {
		return true, false
	}
	out, err := s.play(p, *s.ref)
	switch {
	case err != nil:
		return s.stray && harness.Unplayed(err), true // it has no such command to hold
	case slices.Contains(out.Fails, s.found.Broken[0]):
		return false, false
	case s.doubtful(out):
		return s.blind && out.Missed == s.stray, true
	}
	return true, false
}

// vaguer reports whether less can be said of the lock than under the whole schedule.
func (s *shrinker) vaguer(out Outcome) bool {
	return s.whole != nil && slices.ContainsFunc(out.Unknown, func(p string) bool { return !slices.Contains(s.whole.Unknown, p) })
}

// doubtful says of a run of a reference that it may not have kept the property.
func (s *shrinker) doubtful(out Outcome) bool {
	return out.Missed || slices.Contains(out.Unknown, string(s.found.Broken[0]))
}

// least leaves out of a schedule what it can do without, until nothing is left that can be left out, and lets it wait again for what that
// had waited for.
func (s *shrinker) least(p Program) Program {
	for again := true; again; {
		again = false
		for _, c := range smaller(p) {
			if _, holds := s.holds(c); holds {
				p, again = s.gated(c), true
				break
			}
		}
	}
	return p
}

// candidates are the findings whose schedules are smaller than one's by one thing, those that leave out most first.
func candidates(f Finding) (all []Finding) {
	smaller := func(p Program, ds []Deviation) {
		c := f
		c.Program, c.Deviations = p, ds
		all = append(all, c)
	}
	for i, d := range f.Deviations {
		smaller(f.Program, slices.Delete(slices.Clone(f.Deviations), i, i+1))
		if d.Nth > 1 && d.Since == 0 { // how many come before it is not the same on real servers
			ds := slices.Clone(f.Deviations)
			ds[i].Nth = 1
			smaller(f.Program, ds)
		}
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
	for _, who := range f.Program.crews() {
		if p, ds, ok := bare(f.Program, f.Deviations, who); ok {
			smaller(p, ds)
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

// bare is the program with its deviations without all that clients read and write in their lanes: of one call alone nothing could be said. ok says
// that there is something, and that no deviation is in its midst.
func bare(p Program, ds []Deviation, who []string) (Program, []Deviation, bool) {
	found := false
	for _, client := range who {
		for i := p.lineOf(client); ; {
			n := slices.IndexFunc(p.Steps[i].Lane, uses)
			if n < 0 || len(p.Steps[i].Lane) == 1 {
				break
			}
			shorter, call := p.shorter(client, n)
			left, ok := renumbered(ds, client, call)
			if !ok {
				return p, ds, false
			}
			p, ds, found = shorter, left, true
			p.Steps = forgotten(p.Steps, client, call)
		}
	}
	return p, ds, found
}

// uses reports whether a step is one that uses what the lock protects.
func uses(s schedule.Step) bool { return s.Verb == schedule.Read || s.Verb == schedule.Write }

// crews are all clients that have lanes, and each by itself.
func (p Program) crews() (all [][]string) {
	all = [][]string{nil}
	for _, s := range p.Steps {
		if s.Verb == schedule.Lane {
			all[0] = append(all[0], s.Who[0])
			all = append(all, s.Who)
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

// renumber lets the deviations name the calls and commands by which the short schedule names them. One that no command is held for comes
// when the call has ended.
func (f *Finding) renumber() {
	f.Deviations = slices.Clone(f.Deviations)
	seen := map[string]int{}
	for i, d := range f.Deviations {
		rules := slices.DeleteFunc(slices.Clone(f.short.Steps), func(s schedule.Step) bool { return s.Verb != schedule.At || s.Who[0] != d.Client })
		if n := seen[d.Client]; n < len(rules) {
			f.Deviations[i].Call, f.Deviations[i].Nth = rules[n].Op, rules[n].Nth
		} else {
			f.Deviations[i].Call, f.Deviations[i].What = f.short.Operations()[d.Client], ""
		}
		seen[d.Client]++
	}
}

// renamed lets the deviations have other names for the clients.
func (f *Finding) renamed(names map[string]string) {
	f.Deviations = slices.Clone(f.Deviations)
	for i, d := range f.Deviations {
		f.Deviations[i].Client = names[d.Client]
	}
}
