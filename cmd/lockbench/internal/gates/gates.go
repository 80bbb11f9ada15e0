// Package gates tells of a run what its schedule let wait for what, at the instants at which that was: a command that a rule met, the
// faults that began when it had, what went on when it was let go, and calls that began after others.
package gates

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/nemesis"
)

// Of returns what waited for what in a run of a schedule, in the order of time. When calls began is known if the run kept that
// (harness.Config.Calls).
func Of(s schedule.Schedule, res harness.Result) (all []report.Gate) {
	g := gates{s: s, res: res, told: map[int]bool{}}
	ops, _ := histories.Pair(res.Events) // of a history that does not pair, what does is told
	for _, o := range ops {
		if !o.Fault() {
			g.calls = append(g.calls, o)
			continue
		}
		g.faults = append(g.faults, o)
		switch {
		case o.Invoke.F == nemesis.HoldF:
			g.held(o, ops)
		case slices.Contains([]histories.F{nemesis.LostReplyF, nemesis.DuplicateF}, o.Invoke.F):
			g.hit(o)
		}
	}
	g.afters()
	slices.SortStableFunc(g.all, func(a, b report.Gate) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return g.all
}

type gates struct {
	s      schedule.Schedule
	res    harness.Result
	calls  []histories.Op
	faults []histories.Op
	told   map[int]bool // rules, by their places among the steps
	all    []report.Gate
}

// end is when an operation ended, or forever.
func end(o histories.Op) time.Duration {
	if o.Done {
		return o.Complete.Time
	}
	return 1<<63 - 1
}

// held tells of a command that was held up: that it was met, what began then, and what went on when it was let go.
func (g *gates) held(o histories.Op, ops []histories.Op) {
	who := o.Invoke.Node
	var met *histories.Exchange
	for i, x := range g.res.Exchanges {
		held := slices.Contains([]string{histories.CommandHeld, histories.ReplyHeld, histories.CommandLetGo, histories.ReplyLetGo, histories.CommandDropped, histories.ReplyDropped}, x.Note)
		if held && x.Client == g.process(who) && x.Sent <= o.Invoke.Time {
			met = &g.res.Exchanges[i]
		}
	}
	if met == nil {
		return
	}
	condition := "wait held " + who
	g.all = append(g.all, report.Gate{From: met.Sent, At: met.Node, To: o.Invoke.Time, Condition: condition, Event: o.Invoke.Index, Rule: g.rule(who, schedule.Hold)})
	for _, f := range ops {
		if f.Fault() && f.Invoke.F != nemesis.HoldF && o.Invoke.Time < f.Invoke.Time && f.Invoke.Time < end(o) {
			g.all = append(g.all, report.Gate{From: o.Invoke.Time, To: f.Invoke.Time, Goes: f.Invoke.Node, Condition: condition, Event: f.Invoke.Index})
		}
	}
	if !o.Done {
		return
	}
	on := report.Gate{From: o.Complete.Time, Condition: "let-go " + who, Event: o.Complete.Index}
	switch {
	case met.Forwarded >= on.From:
		on.To, on.Goes = met.Forwarded, met.Node
	case met.Replied >= on.From:
		on.To, on.Goes = met.Replied, who
	default:
		return // nothing went on
	}
	g.all = append(g.all, on)
}

// hit tells which command a fault met that was to hit one.
func (g *gates) hit(o histories.Op) {
	condition := g.rule(o.Invoke.Node, schedule.Lose, schedule.Twice)
	if condition == "" { // no rule, but a fault that begins by name
		condition = string(o.Invoke.F) + " " + o.Invoke.Node
	}
	for _, x := range g.res.Exchanges {
		if x.Note != "" && x.Client == g.process(o.Invoke.Node) && o.Invoke.Time <= x.Sent && x.Sent <= end(o) {
			g.all = append(g.all, report.Gate{From: o.Invoke.Time, To: x.Sent, Goes: x.Node, Condition: condition, Event: o.Invoke.Index})
			return
		}
	}
}

// rule is the next rule of a client that does one of some things, in the order of the steps.
func (g *gates) rule(client string, does ...schedule.Action) string {
	for i, s := range g.s.Steps {
		if s.Verb == schedule.At && slices.Equal(s.Who, []string{client}) && slices.Contains(does, s.Action) && !g.told[i] {
			g.told[i] = true
			return s.String()
		}
	}
	return ""
}

// process is the client under whose name the commands of a client are recorded.
func (g *gates) process(client string) string {
	if slices.Index(g.s.Names(), client) < g.s.Threads {
		return histories.WorkerName(0)
	}
	return client
}

// afters tells which calls began after others, and which steps were done when a call had ended.
func (g *gates) afters() {
	for i, step := range g.s.Steps {
		for n, call := range step.Lane {
			if call.After != nil {
				if c, ok := g.call(step.Who[0], callOf(step.Lane[:n+1])); ok {
					g.after(*call.After, c.At, step.Who[0], "after "+call.After.String())
				}
			}
		}
		if step.Verb == schedule.Wait && step.What == schedule.Done && step.Op > 0 && i+1 < len(g.s.Steps) {
			if at, goes, ok := g.done(g.s.Steps[i+1]); ok {
				g.after(schedule.Ref{Who: step.Who[0], Op: step.Op}, at, goes, step.String())
			}
		}
	}
}

// after tells of something that waited for the end of a call. What came before that did not.
func (g *gates) after(r schedule.Ref, at time.Duration, goes, condition string) {
	if ended, event, ok := g.ended(r); ok && ended <= at {
		g.all = append(g.all, report.Gate{From: ended, At: r.Who, To: at, Goes: goes, Condition: condition, Event: event})
	}
}

// done is when and where a step was done, of those that a search lets wait.
func (g *gates) done(step schedule.Step) (at time.Duration, goes string, ok bool) {
	if step.Verb == schedule.Lane {
		c, ok := g.call(step.Who[0], 1)
		return c.At, step.Who[0], ok
	}
	for _, o := range g.faults {
		switch {
		case step.Verb == schedule.LetGo && o.Invoke.F == nemesis.HoldF && o.Invoke.Node == step.Who[0], step.Verb == schedule.Stop && string(o.Invoke.F) == step.What:
			return end(o), "", o.Done
		case step.Verb == schedule.Start && string(o.Invoke.F) == step.What:
			return o.Invoke.Time, "", true
		}
	}
	return 0, "", false
}

// callOf is which call of its client the last of some steps is.
func callOf(steps []schedule.Step) (n int) {
	for _, s := range steps {
		if s.Calls() {
			n++
		}
	}
	return n
}

// call is a client's n-th call. ok says that it began.
func (g *gates) call(client string, n int) (c harness.Call, ok bool) {
	i := slices.IndexFunc(g.res.Calls, func(c harness.Call) bool { return c.Client == client && c.N == n })
	if i < 0 {
		return c, false
	}
	return g.res.Calls[i], true
}

// ended is when a call ended, and the event with which the last of its operations did. ok says that it did.
func (g *gates) ended(r schedule.Ref) (at time.Duration, event int, ok bool) {
	c, begun := g.call(r.Who, r.Op)
	if !begun || c.End == 0 {
		return 0, 0, false
	}
	for _, o := range g.calls {
		if o.Done && histories.WorkerName(o.Invoke.Worker) == r.Who && c.At <= o.Complete.Time && o.Complete.Time <= c.End {
			event, ok = o.Complete.Index, true
		}
	}
	return c.End, event, ok
}
