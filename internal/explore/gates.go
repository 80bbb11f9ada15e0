package explore

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/schedule"
)

// gated lets what happens in a schedule wait for what had ended before it in virtual time, as far as the schedule still shows what the
// finding shows: each call for the call of another client that ended last before its own end; a client whose calls come while a command is
// held, for that; and what is let go, or ends, for the calls meanwhile. On real servers time alone does not tell what comes after what.
func (s *shrinker) gated(p Program) Program {
	out, ok := s.holds(p)
	if !ok || !p.laned() {
		return p
	}
	calls := ended(out.Calls)
	for i, c := range calls {
		if step := p.call(c.Client, c.N); step == nil || step.After != nil || step.Verb == schedule.Leave || step.Verb == schedule.Hang {
			continue
		}
		for j := i - 1; j >= 0 && calls[j].Client != c.Client; j-- { // its own call has waited for what is before that
			if c.N == 1 && p.over(p.lineOf(c.Client), schedule.Ref{Who: calls[j].Client, Op: calls[j].N}) {
				break
			}
			if next, ok := s.try(p, func(p *Program) { p.call(c.Client, c.N).After = &schedule.Ref{Who: calls[j].Client, Op: calls[j].N} }); ok {
				p = next
				break
			}
		}
	}
	p = s.later(p)
	return s.beforeEnd(p, calls)
}

// try is the schedule with a change, and whether it still shows what the finding shows.
func (s *shrinker) try(p Program, change func(*Program)) (Program, bool) {
	next := p
	next.Steps = slices.Clone(p.Steps)
	for i := range next.Steps {
		next.Steps[i].Lane = slices.Clone(next.Steps[i].Lane)
	}
	change(&next)
	_, ok := s.holds(next)
	return next, ok
}

// ended are the calls that came to an end, in the order in which they did.
func ended(calls []harness.Call) []harness.Call {
	all := slices.DeleteFunc(slices.Clone(calls), func(c harness.Call) bool { return c.End == 0 })
	slices.SortStableFunc(all, func(a, b harness.Call) int { return cmp.Compare(a.End, b.End) })
	return all
}

// call is the n-th call of a client's lane, in place; nil: there is none.
func (p *Program) call(client string, n int) *schedule.Step {
	for i, s := range p.Steps {
		if s.Verb != schedule.Lane || s.Who[0] != client {
			continue
		}
		for k := range s.Lane {
			if !s.Lane[k].Calls() {
				continue
			}
			if n--; n == 0 {
				return &p.Steps[i].Lane[k]
			}
		}
	}
	return nil
}

// later lets each client begin when a command of another one is held, or a fault has begun, if its calls come then or may.
func (s *shrinker) later(p Program) Program {
	for _, lane := range p.Steps {
		if lane.Verb != schedule.Lane {
			continue
		}
		for k := len(p.Steps) - 1; k >= 0; k-- {
			from := p.lineOf(lane.Who[0])
			at := p.Steps[k]
			held := at.Verb == schedule.Wait && at.What == schedule.Held
			if k < from || !held && at.Verb != schedule.Start || slices.Contains(at.Who, lane.Who[0]) {
				continue
			}
			if first := p.call(lane.Who[0], 1); first == nil || first.After != nil && p.heldIn(k, first.After.Who) > 0 && first.After.Op >= p.heldIn(k, first.After.Who) {
				break // it comes later than that
			}
			next, ok := s.try(p, func(p *Program) {
				if first := p.call(lane.Who[0], 1); first.After != nil && p.over(k, *first.After) {
					first.After = nil
				}
				moved := p.Steps[from]
				p.Steps = slices.Insert(slices.Delete(p.Steps, from, from+1), k, moved)
			})
			if ok {
				p = next
				break
			}
		}
	}
	return p
}

// lineOf is the step that is a client's lane.
func (p Program) lineOf(client string) int {
	return slices.IndexFunc(p.Steps, func(s schedule.Step) bool { return s.Verb == schedule.Lane && s.Who[0] == client })
}

// heldIn is the call of a client in which a command is held when a step is done; 0: none is.
func (p Program) heldIn(step int, client string) int {
	for _, s := range p.Steps[:step+1] {
		if s.Verb == schedule.Wait && s.What == schedule.Held && s.Who[0] == client {
			return p.ruleOf(client)
		}
	}
	return 0
}

// over reports whether a call has certainly ended when a step is done.
func (p Program) over(step int, r schedule.Ref) bool {
	return r.Op < p.heldIn(step, r.Who) || slices.ContainsFunc(p.Steps[:step+1], func(s schedule.Step) bool {
		return s.Verb == schedule.Wait && s.What == schedule.Done && s.Op >= r.Op && slices.Contains(s.Who, r.Who)
	})
}

// ruleOf is the call of a client that a rule is about.
func (p Program) ruleOf(client string) int {
	for _, s := range p.Steps {
		if s.Verb == schedule.At && s.Who[0] == client {
			return s.Op
		}
	}
	return 0
}

// beforeEnd lets what is let go, and faults that end, wait for the last of the calls that may come before it.
func (s *shrinker) beforeEnd(p Program, calls []harness.Call) Program {
	for k := len(p.Steps) - 1; k > 0; k-- {
		end := p.Steps[k]
		if end.Verb != schedule.LetGo && end.Verb != schedule.Stop || p.waited(k) {
			continue
		}
		for _, c := range slices.Backward(calls) {
			if slices.Contains(end.Who, c.Client) {
				continue
			}
			if p.over(k, schedule.Ref{Who: c.Client, Op: c.N}) || p.begun(calls, k) > c.End {
				break
			}
			next, ok := s.try(p, func(p *Program) {
				p.Steps = slices.Insert(p.Steps, k, schedule.Step{Verb: schedule.Wait, What: schedule.Done, Who: []string{c.Client}, Op: c.N})
			})
			if ok {
				p = next
				break
			}
		}
	}
	p.Steps = once(p.Steps)
	return p
}

// begun is when the call began in which a command is held that a step comes after.
func (p Program) begun(calls []harness.Call, step int) (at time.Duration) {
	for _, c := range calls {
		if p.heldIn(step, c.Client) == c.N {
			at = max(at, c.At)
		}
	}
	return at
}

// waited reports whether a step comes when a call has ended: a wait for one is between it and what holds a command.
func (p Program) waited(k int) bool {
	for k--; k >= 0; k-- {
		switch s := p.Steps[k]; {
		case s.Verb == schedule.Wait && s.What == schedule.Done:
			return true
		case s.Verb == schedule.Wait && s.What == schedule.Held:
			return false
		}
	}
	return false
}
