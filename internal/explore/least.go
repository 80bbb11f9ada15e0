package explore

import (
	"slices"

	"github.com/lockbench/lockbench/internal/schedule"
)

// smaller are the schedules that are smaller than one by one thing: a rule, a fault, a client's lane, a call or a sleep, or the length of a
// sleep. Those that leave out most come first.
func smaller(p Program) (all []Program) {
	add := func(steps []schedule.Step) {
		c := p
		c.Steps = steps
		all = append(all, c)
	}
	for _, s := range p.Steps {
		switch s.Verb {
		case schedule.At:
			if c, ok := p.withoutRule(s); ok {
				all = append(all, c)
			}
		case schedule.Start:
			add(slices.DeleteFunc(slices.Clone(p.Steps), func(o schedule.Step) bool {
				return (o.Verb == schedule.Start || o.Verb == schedule.Stop) && o.What == s.What && slices.Equal(o.Who, s.Who)
			}))
		}
	}
	for _, s := range p.Steps {
		if s.Verb == schedule.Lane && p.lanes() > 1 && !p.met(s.Who[0]) {
			c := p
			c.Steps = forgotten(p.Steps, s.Who[0], 0)
			all = append(all, c.without(s.Who[0]))
		}
	}
	for _, who := range p.crews() {
		if c, ok := p.withoutUses(who); ok {
			all = append(all, c)
		}
	}
	if c := slices.DeleteFunc(slices.Clone(p.Steps), uses); len(c) < len(p.Steps) {
		add(c)
	}
	for i, s := range p.Steps {
		switch {
		case s.Verb == schedule.Lane && len(s.Lane) > 1:
			for n := len(s.Lane) - 1; n >= 0; n-- {
				if c, ok := p.withoutCall(s.Who[0], n); ok {
					all = append(all, c)
				}
			}
		case s.Calls() || s.Verb == schedule.Sleep:
			add(slices.Delete(slices.Clone(p.Steps), i, i+1))
		}
	}
	all = append(all, p.withoutWaits()...)
	return slices.DeleteFunc(append(all, shorter(p)...), func(c Program) bool { return !c.gets() })
}

// met reports whether a rule is for commands of a client.
func (p Program) met(client string) bool {
	return slices.ContainsFunc(p.Steps, func(s schedule.Step) bool { return s.Verb == schedule.At && s.Who[0] == client })
}

// withoutRule is the program without the rules for what a client sends. What was done when a command was held is done when the call has
// ended. ok says that the client makes no call after that, which what is done would have to wait for.
func (p Program) withoutRule(rule schedule.Step) (c Program, ok bool) {
	client := rule.Who[0]
	if rule.Action == schedule.Hold && rule.Op != p.Operations()[client] {
		return p, false
	}
	c = p
	c.Steps = nil
	for _, o := range p.Steps {
		of := slices.Equal(o.Who, rule.Who)
		switch {
		case of && (o.Verb == schedule.At || o.Verb == schedule.LetGo):
			continue
		case of && o.Verb == schedule.Wait && o.What == schedule.Held:
			o.What, o.Op = schedule.Done, rule.Op
		}
		c.Steps = append(c.Steps, o)
	}
	c.Steps = once(c.Steps)
	return c, true
}

// once are steps without what waits for a call that was waited for.
func once(steps []schedule.Step) (left []schedule.Step) {
	for _, s := range steps {
		again := s.Verb == schedule.Wait && s.Op > 0 && slices.ContainsFunc(left, func(o schedule.Step) bool {
			return o.Verb == s.Verb && o.What == s.What && o.Op == s.Op && slices.Equal(o.Who, s.Who)
		})
		if !again {
			left = append(left, s)
		}
	}
	return left
}

// withoutWaits are the schedules without what waits for a call just before all are waited for.
func (p Program) withoutWaits() (all []Program) {
	for i := 1; i < len(p.Steps); i++ {
		one, every := p.Steps[i-1], p.Steps[i]
		if one.Verb == schedule.Wait && one.What == schedule.Done && one.Op > 0 && every.Verb == schedule.Wait && every.Op == 0 && slices.Contains(every.Who, one.Who[0]) {
			c := p
			c.Steps = slices.Delete(slices.Clone(p.Steps), i-1, i)
			all = append(all, c)
		}
	}
	return all
}

// compact is the program with the first names for its clients, and the old names by the new ones. Which clients are threads of one process
// is told by their names.
func (p Program) compact() (c Program, names map[string]string) {
	names = map[string]string{}
	if p.Threads > 0 {
		return p, names
	}
	used := map[string]bool{}
	mark := func(s schedule.Step) {
		for _, name := range s.Who {
			used[name] = true
		}
	}
	for _, s := range p.Steps {
		mark(s)
	}
	for _, old := range p.Names() {
		if used[old] {
			names[old] = p.Names()[len(names)]
		}
	}
	rename := func(s schedule.Step) schedule.Step {
		s.Who = slices.Clone(s.Who)
		for i, name := range s.Who {
			s.Who[i] = names[name]
		}
		if s.After != nil {
			s.After = &schedule.Ref{Who: names[s.After.Who], Op: s.After.Op}
		}
		return s
	}
	c = p
	c.Clients, c.Steps = max(len(names), 1), slices.Clone(p.Steps)
	for i, s := range c.Steps {
		s = rename(s)
		s.Lane = slices.Clone(s.Lane)
		for n := range s.Lane {
			s.Lane[n] = rename(s.Lane[n])
		}
		c.Steps[i] = s
	}
	return c, names
}

// gets reports whether a client gets the lock by a step.
func (p Program) gets() bool {
	return p.Has(func(s schedule.Step) bool {
		return slices.Contains([]schedule.Verb{schedule.Acquire, schedule.Turn, schedule.ComeAndGo, schedule.UseAgain, schedule.Crowd, schedule.Meet, schedule.Outlive}, s.Verb)
	})
}

// withoutCall is the program without a step of a client's lane, counted from 0. ok says that no rule is for what it sends.
func (p Program) withoutCall(client string, step int) (c Program, ok bool) {
	c, call := p.shorter(client, step)
	if call == 0 {
		return c, true
	}
	for _, s := range c.Steps {
		if s.Verb == schedule.At && s.Who[0] == client && s.Op == call {
			return c, false
		}
	}
	c.Steps = forgotten(c.Steps, client, call)
	return c, true
}

// withoutUses is the program without all that clients read and write in their lanes. ok says that there is something, and that no rule is
// for it.
func (p Program) withoutUses(who []string) (c Program, ok bool) {
	for _, client := range who {
		for i := p.lineOf(client); ; {
			n := slices.IndexFunc(p.Steps[i].Lane, uses)
			if n < 0 || len(p.Steps[i].Lane) == 1 {
				break
			}
			if c, ok = p.withoutCall(client, n); !ok {
				return p, false
			}
			p = c
		}
	}
	return p, ok
}

// forgotten are steps that name a client's calls when one of them was left out, from 1 on, or all of them: 0. What waited for it waits
// for the one before it, or for none.
func forgotten(steps []schedule.Step, client string, call int) (left []schedule.Step) {
	now := func(op int) int {
		if call == 0 {
			return 0
		}
		if op >= call {
			op--
		}
		return op
	}
	after := func(s schedule.Step) schedule.Step {
		if s.After == nil || s.After.Who != client {
			return s
		}
		ref := schedule.Ref{Who: client, Op: now(s.After.Op)}
		if s.After = &ref; ref.Op == 0 {
			s.After = nil
		}
		return s
	}
	for _, s := range steps {
		s = after(s)
		s.Lane = slices.Clone(s.Lane)
		for i := range s.Lane {
			s.Lane[i] = after(s.Lane[i])
		}
		if s.Op > 0 && s.Who[0] == client {
			if s.Op = now(s.Op); s.Op == 0 {
				continue
			}
		}
		left = append(left, s)
	}
	return left
}

// lengths are those that a sleep may have, from long to short. They are far from a lease, so that on real servers it does not matter
// by how much a sleep takes longer.
func lengths() []float64 { return []float64{long, short} }

// shorter are the schedules in which one sleep is as long as the next of lengths.
func shorter(p Program) (all []Program) {
	cut := func(s schedule.Step) (schedule.Step, bool) {
		if s.Verb != schedule.Sleep || *s.For != *span(s.For.TTLs) {
			return s, false
		}
		for _, l := range lengths() {
			if s.For.TTLs > l {
				s.For = span(l)
				return s, true
			}
		}
		return s, false
	}
	for i, s := range p.Steps {
		steps := slices.Clone(p.Steps)
		c := p
		c.Steps = steps
		if less, ok := cut(s); ok {
			steps[i] = less
			all = append(all, c)
		}
		for n, call := range s.Lane {
			if less, ok := cut(call); ok {
				lane := slices.Clone(steps)
				lane[i].Lane = slices.Clone(s.Lane)
				lane[i].Lane[n] = less
				c.Steps = lane
				all = append(all, c)
			}
		}
	}
	return all
}
