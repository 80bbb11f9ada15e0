package checker

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A shape says whether the values of a history are tuples of Jepsen's independent keys.
type shape int

const (
	plainValues shape = iota // no: values are what they say
	tuples                   // yes: the first of each pair is the key
	eitherWay                // both readings make sense
	unclear                  // some look as if they were, and others cannot be
)

// Jepsen tests many keys at once by jepsen.independent: there the value of every call is a
// tuple, and its first element is the key (https://jepsen-io.github.io/jepsen/jepsen.independent.html).
// A file has it as [k v], or tagged. Neither form alone tells it from a value that is a pair. A
// tag does, and so does a call that has a pair whose second element is nil where it has
// nothing to say but its key, as a read before its answer.

// evidence is what the values of a history tell of its shape.
type evidence struct {
	pairs, others int
	asked         bool // for a key and nothing else, or tagged
	split         bool // a call and its answer name different keys
	silent        bool // reads name no key before they are answered
}

// shapeOf tells the shape of the client's events of a history. Of answers only those that
// models read count: those that are ok. A history that names keys of its own is plain.
func shapeOf(events []histories.Event) shape {
	var ev evidence
	open := make(map[int]string) // keys of calls, by process
	for i := range events {
		e := &events[i]
		if e.Process <= histories.Nemesis || e.Single() || e.Type != histories.Invoke && e.Type != histories.OK {
			continue
		}
		if e.Key != "" {
			return plainValues
		}
		ev.add(e, open)
	}
	return ev.shape()
}

func (ev *evidence) add(e *histories.Event, open map[int]string) {
	call := e.Type == histories.Invoke
	switch {
	case e.Value != "":
	case call && e.F == histories.Read:
		ev.silent = true
		delete(open, e.Process)
		return
	case !call && e.F != histories.Read: // its call has said what there is to say
		return
	}
	t, ok := histories.ReadTuple(e.Value)
	if ok && e.F == compareAndSet {
		ok = len(histories.Elements(t.Value)) == 2
	}
	if !ok {
		ev.others++
		return
	}
	ev.pairs++
	ev.asked = ev.asked || t.Tagged || call && t.Value == "" && asks(e.F)
	if call {
		open[e.Process] = t.Key
		return
	}
	if key, told := open[e.Process]; told && key != t.Key {
		ev.split = true
	}
}

// asks reports whether a call has no argument but its key.
func asks(f histories.F) bool {
	f = callOf(f)
	return f == histories.Read || f == histories.Acquire || f == histories.Release
}

func (ev *evidence) shape() shape {
	possible := ev.pairs > 0 && ev.others == 0 && !ev.split
	switch {
	case possible && ev.asked && !ev.silent:
		return tuples
	case possible:
		return eitherWay
	case ev.asked:
		return unclear
	}
	return plainValues
}

// untuple returns the events with the first elements of their values as their keys, and the
// second as their values. The answer to a call has its key.
func untuple(events []histories.Event) []histories.Event {
	events = slices.Clone(events)
	open := make(map[int]*histories.Event)
	for i := range events {
		e := &events[i]
		if e.Process <= histories.Nemesis || e.Single() {
			continue
		}
		t, ok := histories.ReadTuple(e.Value)
		if ok {
			e.Key, e.Value = t.Key, t.Value
		}
		if e.Type == histories.Invoke {
			open[e.Process] = e
			continue
		}
		call := open[e.Process]
		switch {
		case call == nil:
		case call.Key == "":
			call.Key = e.Key // a read that was silent is of what its answer names
		default:
			e.Key = call.Key // whatever the value of a failed call may be
		}
	}
	return events
}

// judge judges a history as what its values say that it is. One that makes sense with tuples
// and without is judged as both; where these differ it is Unknown which is true.
func (d datatype) judge(ctx context.Context, events []histories.Event, opt Options, res *Result) error {
	switch shapeOf(events) {
	case tuples:
		return d.linearize(ctx, untuple(events), opt, res)
	case unclear:
		res.Checked = len(events)
		res.Story = "Not judged: some values are pairs of a key and a value, as those of Jepsen's independent keys, and others are not. " +
			"A history is of independent keys only if every value of a call is [key value]."
		return nil
	case eitherWay:
		return d.judgeBoth(ctx, events, opt, res)
	}
	return d.linearize(ctx, events, opt, res)
}

func (d datatype) judgeBoth(ctx context.Context, events []histories.Event, opt Options, res *Result) error {
	split := *res
	whole := d.linearize(ctx, events, opt, res)
	perKey := d.linearize(ctx, untuple(events), opt, &split)
	switch {
	case whole != nil && perKey != nil:
		return whole
	case whole != nil:
		*res = split
	case perKey != nil || res.Verdict == split.Verdict:
	default:
		*res = Result{
			Engine: res.Engine, Checked: res.Checked, Unknowns: cmp.Or(res.Unknowns, split.Unknowns),
			Story: "It cannot be told whether the values, all of which are pairs, are those of Jepsen's independent keys. As keys and their values the verdict is " +
				split.Verdict.String() + ", as values " + res.Verdict.String() + ". In a history of independent keys reads are invoked with [key nil].",
		}
	}
	return nil
}
