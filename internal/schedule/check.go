package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check looks for what no line alone has wrong: a step that names what is not there, or waits for what can never
// come. The error of a step is a *StepError.
func (s Schedule) Check() error {
	switch {
	case s.Clients == 0:
		return errors.New("it does not say how many clients there are: want, for example, clients 2")
	case len(s.Steps) == 0:
		return errors.New("it has no steps")
	case s.Threads > s.Clients:
		return fmt.Errorf("%d clients are threads of one process, and there are %d clients", s.Threads, s.Clients)
	}
	if err := s.checkSteps(s.Steps, ""); err != nil {
		return err
	}
	for _, r := range s.Remedies {
		if len(r.Steps) == 0 {
			return fmt.Errorf("remedy %s has no steps", r.Name)
		}
		if err := s.checkSteps(r.Steps, r.Name); err != nil {
			return err
		}
	}
	return nil
}

// StepError says what is wrong with a step.
type StepError struct {
	N      int    // counting from 1
	Remedy string // that the step belongs to; empty: none
	Step   Step
	Err    error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d, %q: %v", e.N, e.Step, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

func (s Schedule) checkSteps(steps []Step, remedy string) error {
	c := checker{schedule: s, made: s.Operations(), rules: map[string]int{}, called: map[string]bool{}, faults: map[string]bool{}}
	for i, p := range steps {
		if err := c.step(p); err != nil {
			return &StepError{i + 1, remedy, p, err}
		}
	}
	return nil
}

// checker follows the steps without playing them.
type checker struct {
	schedule Schedule
	made     map[string]int  // calls of each client, by all steps
	rules    map[string]int  // of each client: that hold something up and were not let go
	called   map[string]bool // of each client: it was left in a call
	faults   map[string]bool // that have begun
}

func (c *checker) step(p Step) error {
	if keys := max(c.schedule.Keys, 1); p.Key > keys {
		return fmt.Errorf("it names key %d, and there is no more than %d: the head wants keys %d", p.Key, keys, p.Key)
	}
	if p.Replica > c.schedule.Replicas {
		return fmt.Errorf("it names replica %d, and there are %d: the head wants replicas %d", p.Replica, c.schedule.Replicas, p.Replica)
	}
	if p.Verb == Acquire && p.What == WithoutTTL && (p.For != nil || p.Within != nil || p.Eventually) {
		return fmt.Errorf("%s does not say for how long, and is tried once: want no for, within or eventually", WithoutTTL)
	}
	if p.Again && p.Refused {
		return errors.New("nobody can release again what it was refused: want again or refused")
	}
	if p.Verb == Sleep && p.For != nil && (p.For.TTLs < 0 || p.For.More < 0) {
		return fmt.Errorf("nobody sleeps for less than nothing: want a length of time from 0 on, found %s", p.For)
	}
	who := strings.Join(p.Who, " ")
	if err := c.operation(p); err != nil {
		return err
	}
	if p.Verb == Lane {
		c.called[who] = true
		for _, call := range p.Lane {
			if err := c.step(call); err != nil {
				return err
			}
		}
	}
	if p.Free && p.Verb != LetGo {
		c.called[who] = true
	}
	switch p.Verb {
	case At:
		if p.Action == Hold {
			c.rules[who]++
		}
	case LetGo:
		if c.rules[who]--; c.rules[who] < 0 {
			return fmt.Errorf("nothing of %s is held up: want a line before it such as %q", who, "at "+who+" takes: hold")
		}
	case Wait:
		return c.wait(p, who)
	case Start:
		return c.start(p)
	case Stop:
		if !c.faults[target(p)] {
			return fmt.Errorf("there is no such fault to stop: want a line before it that starts it, %q", strings.Replace(p.String(), "stop", "start", 1))
		}
	}
	return nil
}

// operation looks whether the operations are made that a step names.
func (c *checker) operation(p Step) error {
	if p.Op > 0 && p.Op > c.made[p.Who[0]] {
		return fmt.Errorf("it names %s's operation %d, and the steps have %d", p.Who[0], p.Op, c.made[p.Who[0]])
	}
	if r := p.After; r != nil && r.Op > c.made[r.Who] {
		return fmt.Errorf("it comes after %s, and %s makes %d calls", r, r.Who, c.made[r.Who])
	}
	return nil
}

func (c *checker) wait(p Step, who string) error {
	switch p.What {
	case Held, Asked:
		if c.rules[who] == 0 {
			return fmt.Errorf("no rule holds up anything of %s, so that this never comes: want a line before it such as %q", who, "at "+who+" takes: hold")
		}
	case Sent:
		if !c.called[who] {
			return fmt.Errorf("%s is in no call, so that this never comes: want a line before it such as %q", who, who+" acquire &")
		}
	case InSync, RefusesWrites:
		return c.replicas(1)
	}
	return nil
}

func (c *checker) start(p Step) error {
	c.faults[target(p)] = true
	all := faults()
	f := all[slices.IndexFunc(all, func(f fault) bool { return f.name == p.What })]
	if slices.Contains([]string{"clock-ahead", "clock-rate"}, f.name) && !c.schedule.Clocks {
		return errors.New("servers whose clocks can be set have to be asked for: the head wants clocks")
	}
	return c.replicas(f.needs())
}

func (c *checker) replicas(n int) error {
	if c.schedule.Replicas < n {
		return fmt.Errorf("it needs replicas: the head wants replicas %d, found %d", n, c.schedule.Replicas)
	}
	return nil
}

// target is what a fault is known by: its name and the client that it hits. Of servers some may be healed together.
func target(p Step) string { return strings.Join(append([]string{p.What}, p.Who...), " ") }
