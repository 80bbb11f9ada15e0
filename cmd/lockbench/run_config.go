package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/peers"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

const (
	expectCatalogue = "catalogue"
	noStore         = "none"
	longestTTL      = 24 * time.Hour
	mostClients     = 1000
	mostRounds      = 1_000_000
	mostKeys        = 1000
	highestRate     = 1e6
)

// config turns flags into what the harness runs. changed says which flags were given.
func (f *runFlags) config(ctx context.Context, changed func(flag string) bool) (harness.Config, error) {
	if (f.scenario == "") == (f.workload == "") {
		return harness.Config{}, errors.New("run needs --scenario or --workload, and not both (lockbench list)")
	}
	backend, unknown := backendNamed(f.backend, backends())
	for _, check := range []error{
		unknown,
		oneOf("format", f.format, formats()),
		oneOf("expectation", f.expect, expectations()),
	} {
		if check != nil {
			return harness.Config{}, check
		}
	}
	backend, err := f.servers.on(ctx, backend)
	if err != nil {
		return harness.Config{}, err
	}
	switch {
	case f.runs < 1:
		return harness.Config{}, fmt.Errorf("--runs is %d, want at least 1", f.runs)
	case f.clients < 1 || f.clients > mostClients:
		return harness.Config{}, fmt.Errorf("--clients is %d, want 1 to %d", f.clients, mostClients)
	case changed("rounds") && (f.rounds < 1 || f.rounds > mostRounds):
		return harness.Config{}, fmt.Errorf("--rounds is %d, want 1 to %d", f.rounds, mostRounds)
	case changed("ttl") && (f.ttl < time.Millisecond || f.ttl > longestTTL || f.ttl%time.Millisecond != 0):
		return harness.Config{}, fmt.Errorf("--ttl is %v, want whole milliseconds, from 1ms to %v", f.ttl, longestTTL)
	case f.limit < 0 || changed("rounds") && changed("time-limit"):
		return harness.Config{}, errors.New("--time-limit is a duration above 0, and goes without --rounds")
	case changed("rate") && !(f.rate > 0 && f.rate <= highestRate):
		return harness.Config{}, fmt.Errorf("--rate is %v, want rounds per second, above 0 and up to %.0f", f.rate, highestRate)
	case f.keys < 1 || f.keys > mostKeys:
		return harness.Config{}, fmt.Errorf("--keys is %d, want 1 to %d", f.keys, mostKeys)
	case f.out == "":
		return harness.Config{}, errNoStore
	}
	if err := f.pages.validate(); err != nil {
		return harness.Config{}, err
	}
	if f.workload != "" && f.remedy != "" {
		return harness.Config{}, errors.New("--remedy belongs to --scenario; a workload has none")
	}
	if f.scenario != "" {
		f.seeded = changed("seed")
		for _, flag := range []string{"clients", "rounds", "time-limit", "rate", "keys", "nemesis"} {
			if changed(flag) {
				return harness.Config{}, fmt.Errorf("--%s belongs to --workload; a scenario has its own cast and faults", flag)
			}
		}
		return f.onServers(f.employed(f.scenarioConfig(ctx, backend)))
	}
	return f.onServers(f.employed(f.workloadConfig(ctx, backend)))
}

// employed adds the clients' processes.
func (f *runFlags) employed(cfg harness.Config, err error) (harness.Config, error) {
	if err != nil {
		return cfg, err
	}
	command, err := f.workerCommand(cfg.Backend)
	if err != nil {
		return cfg, err
	}
	return cfg.WithWorkers(command)
}

// onServers adds the user's own servers to what backend external runs.
func (f *runFlags) onServers(cfg harness.Config, err error) (harness.Config, error) {
	switch {
	case err != nil:
		return cfg, err
	case cfg.Backend.UsersOwn:
		servers, err := parseServers(&f.redis, &f.register)
		if err != nil {
			return cfg, err
		}
		return cfg.On(harness.External(servers))
	case f.redis != "" || f.register != "":
		return cfg, errors.New("--redis and --register belong to --backend external; the other backends bring their own servers")
	}
	return cfg, nil
}

func (f *runFlags) scenarioConfig(ctx context.Context, backend harness.Backend) (harness.Config, error) {
	s, err := f.meant()
	if err != nil {
		return harness.Config{}, err
	}
	broken := s.Broken()
	if f.lock == "" && f.guard == "" {
		f.guard = broken.Guard.String()
	}
	lock, guard, err := f.lockAndGuard(ctx, backend, broken.Lock)
	if err != nil {
		return harness.Config{}, err
	}
	if s, err = s.With(f.remedy); err != nil {
		return harness.Config{}, err
	}
	f.better = s.Better(lock.Name, guard)
	cfg, err := s.Config(lock, guard, backend, f.ttl)
	if isFile(f.scenario) {
		f.own, cfg.Calls = &s, true
	}
	return cfg, err
}

// meant returns the scenario that is played: one of the catalogue, or one in a file of the user's, which may
// name its seed.
func (f *runFlags) meant() (scenarios.Scenario, error) {
	if !isFile(f.scenario) {
		s, err := scenarioNamed(f.scenario)
		f.scenario = s.Name
		return s, err
	}
	s, err := scheduleIn(f.scenario, f.lock)
	if err == nil && !f.seeded && s.Script.Seed > 0 {
		f.seed = s.Script.Seed
	}
	return s, err
}

func (f *runFlags) workloadConfig(ctx context.Context, backend harness.Backend) (harness.Config, error) {
	if err := oneOf("workload", f.workload, harness.Workloads()); err != nil {
		return harness.Config{}, err
	}
	usual, err := harness.DefaultLock(f.workload)
	if err != nil {
		return harness.Config{}, err
	}
	lock, guard, err := f.lockAndGuard(ctx, backend, usual)
	if err != nil {
		return harness.Config{}, err
	}
	load := harness.Load{
		Workload: f.workload, Clients: f.clients, Rounds: f.rounds, Limit: f.limit, Rate: f.rate, Keys: f.keys, Nemesis: f.nemesis,
	}
	cfg, err := harness.ForWorkload(load, lock, guard, backend, f.ttl)
	if err == nil {
		cfg.Peers = (&peers.Load{Load: load, Guard: guard, TTL: cfg.TTL, Locks: libraries.Catalogue(), Version: buildVersion()}).Measure
	}
	return cfg, err
}

// lockAndGuard returns what is tested. usual is the lock of the catalogue that is, unless the
// user names another one or has a worker with a lock of its own.
func (f *runFlags) lockAndGuard(ctx context.Context, backend harness.Backend, usual string) (locks.Spec, resource.Guard, error) {
	if f.guard == "" {
		f.guard = resource.None.String()
	}
	command, err := f.workerCommand(backend)
	if err != nil {
		return locks.Spec{}, 0, err
	}
	lock, err := described(ctx, command, f.worker, backend, f.lock, usual)
	if err != nil {
		return locks.Spec{}, 0, err
	}
	if f.lock == "" && lock.New != nil { // for the replay command
		f.lock = lock.Name
	}
	if err := oneOf("guard", f.guard, guardNames()); err != nil {
		return locks.Spec{}, 0, err
	}
	for _, g := range resource.Guards() {
		if g.String() == f.guard {
			return lock, g, nil
		}
	}
	return lock, resource.None, nil
}
