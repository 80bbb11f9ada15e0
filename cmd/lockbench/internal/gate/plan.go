package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// ErrNothing says that a plan has no runs.
var ErrNothing = errors.New("nothing to run")

// item is one run to do.
type item struct {
	row      Row
	cfg      harness.Config
	weight   int // how much it costs, roughly
	scenario scenarios.Scenario
	subject  *Subject // nil: it is a case of the catalogue
}

// Plan is the runs of a gate, in the order of the catalogue.
type Plan struct {
	opt     Options
	items   []item // of this shard
	planned int    // runs of all shards
	print   string // of all runs, the same on all shards
	gaps    []Gap  // what is not played
	chosen  []scenarios.Scenario
	lost    []Row // that were to be played again, and cannot
	bench   *bench
	waits   atomic.Bool // the lock under test does, however long its leases are
}

// NewPlan plans what the options ask for. A name that is not known is a *catalogue.UnknownError.
func NewPlan(opt Options) (*Plan, error) {
	opt = opt.withDefaults()
	chosen, err := choose(opt.Catalogue, opt.Only)
	if err != nil {
		return nil, err
	}
	chosen = opt.Again.some(chosen)
	p := &Plan{opt: opt, bench: newBench(opt), chosen: chosen}
	var items []item
	for _, s := range chosen {
		cases, err := p.cases(s)
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			for _, seed := range opt.seeds(c.row) {
				one := c
				one.cfg.Seed = seed
				one.row.At = len(items)
				one.row.Seed = one.cfg.Seed
				items = append(items, one)
			}
		}
	}
	p.planned, p.print, p.items, p.lost = len(items), fingerprint(items), deal(items, opt.Shard), opt.Again.lost(items)
	return p, nil
}

// Runs is how many runs the plan has, and all shards together.
func (p *Plan) Runs() (mine, planned int) { return len(p.items), p.planned }

// Lost are the runs that were to be played again and are not in the plan of all shards.
func (p *Plan) Lost() []Row { return p.lost }

// Gaps are what is not played, and why.
func (p *Plan) Gaps() []Gap { return p.gaps }

// cases are the runs of a scenario, without their seeds.
func (p *Plan) cases(s scenarios.Scenario) ([]item, error) {
	if p.opt.Subject != nil {
		return p.subject(s), nil
	}
	var items []item
	for i, c := range s.Cases {
		lock, err := p.opt.Locks.Find(c.Lock)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		if err := c.Guard.Supports(lock); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		role := AlsoBroken
		switch {
		case s.Holds || s.Saves(c):
			role = Twin
		case i == 0:
			role = Broken
		}
		remedied, err := s.With(c.Remedy)
		if err != nil {
			return nil, err
		}
		items = append(items, p.item(remedied, Row{Role: role, Lock: lock.Name, Guard: c.Guard.String(), Remedy: c.Remedy}, lock, c.Guard)...)
	}
	return items, nil
}

// subject is the run of the user's lock, unless the scenario has nothing to say of it.
func (p *Plan) subject(s scenarios.Scenario) []item {
	sub := p.opt.Subject
	guard := s.Broken().Guard
	if sub.Guard != nil {
		guard = *sub.Guard
	}
	why := s.Unfit(sub.Lock)
	if no := guard.Supports(sub.Lock); why == "" && no != nil {
		why = no.Error()
	}
	if why != "" {
		p.gap(s, Gap{Lock: sub.Lock.Name, Guard: guard.String(), Reason: why, NotApplicable: true})
		return nil
	}
	items := p.item(s, Row{Role: Own, Lock: sub.Lock.Name, Guard: guard.String()}, sub.Lock, guard)
	for i := range items {
		items[i].subject = sub
		items[i].cfg.Want, items[i].cfg.Note, items[i].cfg.CommandLog = nil, "", true
	}
	return items
}

// item is one run, or none and a gap.
func (p *Plan) item(s scenarios.Scenario, row Row, lock locks.Spec, guard resource.Guard) []item {
	row.ID, row.Scenario = s.ID, s.Name
	cfg, err := p.config(s, lock, guard)
	if err != nil {
		why := err.Error()
		if gap, ok := errors.AsType[*scenarios.GapError](err); ok {
			why = gap.Why
		}
		p.gap(s, Gap{Lock: row.Lock, Guard: row.Guard, Remedy: row.Remedy, Reason: why})
		return nil
	}
	return []item{{
		row:      row,
		scenario: s,
		cfg:      cfg,
		weight:   1 + lock.Masters + max(s.Replicas, lock.Replicas),
	}}
}

func (p *Plan) config(s scenarios.Scenario, lock locks.Spec, guard resource.Guard) (harness.Config, error) {
	cfg, err := s.Config(lock, guard, p.opt.Backend, 0)
	if err != nil {
		return cfg, err
	}
	cfg.Version, cfg.Log = p.opt.Version, p.opt.Log
	if p.opt.Subject != nil {
		if cfg, err = cfg.WithWorkers(p.opt.Subject.Worker); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// gap notes what is not played. What keeps the whole scenario from being played is told once.
func (p *Plan) gap(s scenarios.Scenario, g Gap) {
	g.ID, g.Scenario = s.ID, s.Name
	if s.Gaps[p.opt.Backend.Name] != "" && p.opt.Subject == nil && g.Remedy == "" {
		g.Lock, g.Guard = "", ""
	}
	if n := len(p.gaps); n > 0 && p.gaps[n-1] == g {
		return
	}
	p.gaps = append(p.gaps, g)
}

// fingerprint is the same for the same runs.
func fingerprint(items []item) string {
	h := sha256.New()
	for _, i := range items {
		fmt.Fprintln(h, i.row.key(), strings.Join(i.cfg.Worker, " "))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
