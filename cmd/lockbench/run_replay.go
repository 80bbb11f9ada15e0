package main

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
)

// replay is the command that repeats the run with this seed.
func (f *runFlags) replay(seed uint64) string {
	var b strings.Builder
	b.WriteString("lockbench run")
	add := func(flag, value string) {
		if value != "" {
			b.WriteString(" --" + flag + " " + quoted(value))
		}
	}
	add("scenario", f.scenario)
	add("workload", f.workload)
	add("lock", f.lock)
	if f.guard != resource.None.String() {
		add("guard", f.guard)
	}
	add("remedy", f.remedy)
	if f.backend != defaultBackend() {
		add("backend", f.backend)
	}
	b.WriteString(f.servers.arguments())
	add("redis", f.redis)
	add("register", f.register)
	if f.worker != "" {
		add("worker", f.worker)
	}
	if f.workload != "" {
		add("clients", fmt.Sprint(f.clients))
		if f.limit > 0 {
			add("time-limit", f.limit.String())
		}
		if f.rounds > 0 {
			add("rounds", fmt.Sprint(f.rounds))
		}
		if f.rate > 0 {
			add("rate", fmt.Sprint(f.rate))
		}
		if f.keys > 1 {
			add("keys", fmt.Sprint(f.keys))
		}
		add("nemesis", strings.Join(f.nemesis, ","))
		if f.failFast {
			b.WriteString(" --fail-fast")
			if f.expect != expectCatalogue { // it says what is given up, and so when the load ends
				add("expect", f.expect)
			}
		}
	}
	if f.ttl != 0 {
		add("ttl", f.ttl.String())
	}
	add("seed", fmt.Sprint(seed))
	return b.String()
}

// alternatives are the commands that play the same steps against the locks that survive them.
func (f *runFlags) alternatives(cfg harness.Config) []string {
	var commands []string
	for _, c := range f.better {
		if c.Lock == f.lock && c.Guard.String() == f.guard && c.Remedy == f.remedy {
			continue
		}
		lock, err := libraries.Catalogue().Find(c.Lock)
		if err != nil || !lock.Sound {
			continue
		}
		// The catalogue's lock, and not the worker's under its name; where the backend cannot
		// have it, in virtual time.
		other := *f
		other.lock, other.guard, other.remedy, other.worker = c.Lock, c.Guard.String(), c.Remedy, ""
		if cfg.Backend.UsersOwn {
			other.backend, other.redis, other.register = defaultBackend(), "", ""
		}
		commands = append(commands, other.replay(cfg.Seed))
	}
	return commands
}
