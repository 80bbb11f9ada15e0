package checker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// An action is a call as a model sees it. a, b and n are its arguments, or what it returned.
type action struct {
	f       histories.F
	a, b    string
	n       int64
	owner   int  // of a lock
	unknown bool // whether it happened
}

// A timedAction is an action with its place in the history.
type timedAction struct {
	action
	process  int
	key      string
	call, at int // events; at is noEvent if it has no known outcome
}

// noEvent is later than every event.
const noEvent = math.MaxInt

// A datatype is how a model acts.
type datatype struct {
	noun  string // "register"
	init  any
	read  func(histories.Op) (action, error)
	step  func(state any, do action) (bool, any)
	tells func(action) string // what a process did: "wrote 3"
	idle  func(action) bool   // without an outcome it has no effect
	// helps leaves out those of free, which may have happened or not, that can be of no help
	// to kept. Nil: all can.
	helps func(kept, free []timedAction) []timedAction
}

func (d datatype) linearize(ctx context.Context, events []histories.Event, opt Options, res *Result) error {
	actions, err := d.actions(events, res)
	if err != nil {
		return err
	}
	byKey := make(map[string][]timedAction)
	for _, x := range actions {
		byKey[x.key] = append(byKey[x.key], x)
	}
	if len(byKey) == 0 {
		res.Story = "No call succeeded, so nothing was put to the test."
		return nil
	}
	judged, undecided := 0, ""
	for _, key := range sortedKeys(byKey) {
		switch d.check(ctx, byKey[key], noEvent, opt) {
		case porcupine.Ok:
			judged += len(byKey[key])
		case porcupine.Illegal:
			res.Verdict = Fail
			res.Witness, res.Story = d.explain(ctx, key, byKey[key], opt)
			res.Window = within(func(i int) time.Duration { return events[i].Time }, res.Witness)
			return nil
		default:
			if ctx.Err() != nil {
				res.Story = fmt.Sprintf("Not judged: %v.", context.Cause(ctx))
				return nil
			}
			// Another key may be illegal, and that decides.
			undecided = cmp.Or(undecided, fmt.Sprintf("The search for an order of %s%s did not end within %v.", words.Count(len(byKey[key]), "call"), ofKey(key), opt.budget()))
		}
	}
	if undecided != "" {
		res.Story = undecided
		return nil
	}
	res.Verdict = Pass
	res.Story = fmt.Sprintf("%s, in an order that a %s can have answered so.", words.Count(judged, "call"), d.noun)
	return nil
}

func ofKey(key string) string {
	if key == "" {
		return ""
	}
	return " of " + key
}

// actions are the calls that happened or may have, in order of invocations. Events are named by
// their place.
func (d datatype) actions(events []histories.Event, res *Result) ([]timedAction, error) {
	clients := make([]histories.Event, 0, len(events))
	for i, e := range events {
		if e.Process > histories.Nemesis {
			e.Index = i
			clients = append(clients, e)
		}
	}
	ops, err := histories.Pair(clients)
	if err != nil {
		return nil, err
	}
	res.Checked = len(clients)
	actions := make([]timedAction, 0, len(ops))
	for _, o := range ops {
		o.Invoke.F = callOf(o.Invoke.F)
		unknown := o.Outcome() == histories.Info
		if unknown {
			res.Unknowns++
		}
		if o.Outcome() == histories.Fail {
			continue
		}
		do, err := d.read(o)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", o.Invoke.Index, err)
		}
		x := timedAction{action: do, process: o.Invoke.Process, key: o.Invoke.Key, call: o.Invoke.Index, at: o.Complete.Index}
		if unknown {
			x.unknown, x.at = true, noEvent
			if d.idle(do) {
				continue
			}
		}
		actions = append(actions, x)
	}
	return actions, nil
}

// check looks for an order of the actions that began before event end; what returned after it
// counts as unknown.
func (d datatype) check(ctx context.Context, actions []timedAction, end int, opt Options) porcupine.CheckResult {
	begun := make([]timedAction, 0, len(actions))
	for _, x := range actions {
		if x.call > end {
			break
		}
		if x.at > end {
			x.unknown, x.at = true, noEvent
			if d.idle(x.action) {
				continue
			}
		}
		begun = append(begun, x)
	}
	ops, init := turns(begun, d.init)
	result := porcupine.CheckOperationsTimeout(d.model(ctx, init), ops, opt.budget())
	if ctx.Err() != nil {
		return porcupine.Unknown
	}
	return result
}

// model is the datatype as porcupine asks for it. It takes no more steps when ctx ends.
func (d datatype) model(ctx context.Context, init queued) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return init },
		Step: func(state, input, _ any) (bool, any) {
			if ctx.Err() != nil {
				return false, state
			}
			now, do := state.(queued), input.(turn)
			served, ok := now.serve(do)
			if !ok {
				return false, state
			}
			legal, next := d.step(now.data, do.action)
			return legal, queued{next, served}
		},
	}
}

func alwaysActs(action) bool { return false }
