// Package explore looks for schedules that break a lock and that nobody wrote. It lets clients use the lock in small
// programs, meets each command that they send with each deviation, and takes for the lock's own fault what locks of its class
// keep under the same deviations of the same program.
package explore

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

//go:embed programs/*.schedule
var files embed.FS

// Program is a small use of a lock in fair weather: a schedule in which each client makes calls by itself.
type Program struct {
	schedule.Schedule
	// Causes says that an outcome tells the causes of what is broken, which takes longer.
	Causes bool
}

// Programs returns those that a lock can play with a guard of the sections, the smallest first. An error says that the lock does not go with the
// guard, or that a program is wrong.
func Programs(lock locks.Spec, guard resource.Guard) ([]Program, error) {
	if err := guard.Supports(lock); err != nil {
		return nil, err
	}
	entries, err := files.ReadDir("programs")
	if err != nil {
		return nil, err
	}
	var all []Program
	for _, e := range entries {
		src, err := files.ReadFile("programs/" + e.Name())
		if err != nil {
			return nil, err
		}
		s, err := schedule.Parse(string(src))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if guard != resource.None {
			s.Guard = guard.String()
		}
		p := Program{Schedule: s}
		if _, err := p.config(lock); err == nil {
			all = append(all, p)
		} else if !harness.NotApplicable(err) {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	slices.SortStableFunc(all, func(a, b Program) int { return cmp.Compare(a.size(), b.size()) })
	return all, nil
}

// size is how many calls the clients make; what asks for more than clients and a server counts for more.
func (p Program) size() int {
	n := 5*p.Threads + 5*p.Replicas + 5*max(p.Keys-1, 0)
	for _, calls := range p.Operations() {
		n += calls
	}
	return n
}

// config is the run of the program, or of one that deviates from it, with a lock in virtual time.
func (p Program) config(lock locks.Spec) (harness.Config, error) {
	return p.on(harness.Embedded(), lock)
}

// on is the run of the program, or of one that deviates from it, with a lock on a backend.
func (p Program) on(backend harness.Backend, lock locks.Spec) (harness.Config, error) {
	p.Lock = lock.Name
	s, err := scenarios.Of(p.Schedule)
	if err != nil {
		return harness.Config{}, err
	}
	guard := resource.None
	if p.Guard != "" {
		if guard, err = resource.FindGuard(p.Guard); err != nil {
			return harness.Config{}, err
		}
	}
	cfg, err := s.Config(lock, guard, backend, 0)
	cfg.Calls, cfg.NoCauses = true, !p.Causes
	return cfg, err
}

// laned reports whether each client makes its calls by itself. What happens in a program without lanes is not to be met by deviations.
func (p Program) laned() bool { return p.lanes() > 0 }

// lanes is how many clients make their calls by themselves.
func (p Program) lanes() (n int) {
	for _, s := range p.Steps {
		if s.Verb == schedule.Lane {
			n++
		}
	}
	return n
}

// rules is how many commands are met by something.
func (p Program) rules() (n int) {
	for _, s := range p.Steps {
		if s.Verb == schedule.At {
			n++
		}
	}
	return n
}

// lane returns the calls of a client, without its sleeps.
func (p Program) lane(client string) (calls []schedule.Step) {
	for _, step := range p.Steps {
		if step.Verb != schedule.Lane || !slices.Equal(step.Who, []string{client}) {
			continue
		}
		for _, call := range step.Lane {
			if call.Calls() {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// during is what a client does in a call, as far as it matters to what a deviation means: it wants the lock, it has it, or it gives
// it back.
func (p Program) during(client string, call int) string {
	calls := p.lane(client)
	if call < 1 || call > len(calls) {
		return ""
	}
	return string(calls[call-1].Verb)
}

// without returns the program without the lane of a client.
func (p Program) without(client string) Program {
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s schedule.Step) bool {
		return s.Verb == schedule.Lane && slices.Equal(s.Who, []string{client})
	})
	for i, s := range p.Steps {
		if s.Verb == schedule.Wait {
			p.Steps[i].Who = slices.DeleteFunc(slices.Clone(s.Who), func(name string) bool { return name == client })
		}
	}
	if names := p.Names(); names[len(names)-1] == client && p.Clients > max(p.Threads, 1) {
		p.Clients--
	}
	return p
}

// shorter returns the program without a step of a client's lane, counted from 0, and which call of the client that was; 0 if it was none.
// The lane has another one.
func (p Program) shorter(client string, step int) (shorter Program, call int) {
	p.Steps = slices.Clone(p.Steps)
	for i, s := range p.Steps {
		if s.Verb != schedule.Lane || !slices.Equal(s.Who, []string{client}) {
			continue
		}
		if s.Lane[step].Calls() {
			for _, before := range s.Lane[:step+1] {
				if before.Calls() {
					call++
				}
			}
		}
		p.Steps[i].Lane = slices.Delete(slices.Clone(s.Lane), step, step+1)
	}
	return p, call
}

// with returns the program with deviations from it.
func (p Program) with(all ...Deviation) Program {
	if len(all) == 0 {
		return p
	}
	steps := slices.Clone(p.Steps)
	last := waits(steps)
	var rules, acts, tail []schedule.Step // tail: of the last deviation, after its command was let go
	for i, d := range all {
		met, rest := d.steps()
		earlier := func(b Deviation) bool { return b.Client == d.Client && b.Act.steps != nil }
		if slices.ContainsFunc(all[:i], earlier) && d.Act.action == "" {
			// A client's newest rule is the one that is waited for. This one counts commands from here on.
			later := d
			later.Nth -= d.Since
			acts = slices.Insert(acts, len(acts)-len(tail), later.rule())
		} else {
			rules = append(rules, d.rule())
		}
		acts = append(acts, slices.Concat(met, rest)...)
		tail = rest
		p.Replicas, p.Clocks = max(p.Replicas, d.Act.replicas), p.Clocks || d.Act.clocks
	}
	for _, d := range all { // or else it would be in force to the end of the lane
		if d.Act.action != "" && d.Call > 0 {
			acts = append(acts, schedule.Step{Verb: schedule.Wait, What: schedule.Done, Who: []string{d.Client}, Op: d.Call})
		}
	}
	p.Steps = slices.Concat(rules, steps[:last], acts, steps[last:])
	p.Faultless = false
	return p
}

// waits returns which step waits for all clients: the last one that waits. -1: none does.
func waits(steps []schedule.Step) int {
	last := len(steps) - 1
	for last >= 0 && steps[last].Verb != schedule.Wait {
		last--
	}
	return last
}

// String is the program's name and its steps.
func (p Program) String() string {
	var steps []string
	for _, s := range p.Steps {
		steps = append(steps, s.String())
	}
	return p.Name + " (" + strings.Join(steps, "; ") + ")"
}
