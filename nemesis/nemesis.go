// Package nemesis makes things go wrong, one fault per file. Every fault is two
// events in the history: Invoke before it begins and OK when it is over, so that
// judges and drawings know when it may have been in force. Info instead of OK means
// that starting or healing it failed.
package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// Fault is something that goes wrong with one node or one client.
type Fault struct {
	F      histories.F
	Target string // the node, or the client, that it hits
	// Plan says in a few words what the fault is about to do; it goes with the Invoke.
	Plan string
	// Start brings the fault about and returns once it is in force, with what was observed
	// of it. That it did not take effect is an error.
	Start func(context.Context) (seen string, err error)
	// Stop heals and returns what was observed. Nil means that the fault is over when
	// Start returns. One of both must have seen something.
	Stop func(context.Context) (seen string, err error)
	// Simulated says that the deployment or the client only behaves as if it had the fault.
	Simulated bool
	// Missed says, once the fault is over, how it hit nothing; empty: it did. Optional.
	Missed func() string
}

// Injector starts and stops faults and records them. It is not safe for concurrent
// use: one scheduler drives it.
type Injector struct {
	// Alter, if it is set, gives back what takes the place of a fault before it begins. A
	// test puts faults there that only say that they happened, and sees whether that is noticed.
	Alter func(Fault) Fault

	recorder *histories.Recorder
	active   []inForce
	missed   string // how the fault that was healed last hit nothing
	began    map[histories.F]bool
	count    int // how many have begun
	feigned  int // how many that have begun are simulated
}

// Missed says how the fault that was healed last hit nothing; empty: it did hit.
func (i *Injector) Missed() string { return i.missed }

// inForce is a fault that has begun, and what was seen of it then.
type inForce struct {
	Fault
	seen string
}

// NewInjector returns an Injector that records to r.
func NewInjector(r *histories.Recorder) *Injector { return &Injector{recorder: r} }

// Start brings f about.
func (i *Injector) Start(ctx context.Context, f Fault) error {
	if i.Alter != nil {
		f = i.Alter(f)
	}
	i.record(f, histories.Invoke, f.Plan, nil)
	if i.began == nil {
		i.began = make(map[histories.F]bool)
	}
	i.began[f.F] = true
	i.count++
	if f.Simulated {
		i.feigned++
	}
	seen, err := f.Start(ctx)
	if err == nil && f.Stop == nil && seen == "" {
		err = errUnseen
	}
	switch {
	case err != nil:
		i.record(f, histories.Info, seen, err)
		return fmt.Errorf("%s %s: %w", f.F, f.Target, err)
	case f.Stop == nil:
		i.record(f, histories.OK, seen, nil)
	default:
		i.active = append(i.active, inForce{f, seen})
	}
	return nil
}

// Began reports whether a fault of this kind was ever begun.
func (i *Injector) Began(kind histories.F) bool { return i.began[kind] }

// Count returns how many faults have begun.
func (i *Injector) Count() int { return i.count }

// Simulated returns how many simulated faults have begun.
func (i *Injector) Simulated() int { return i.feigned }

// InForce reports whether a fault of this kind is active on this target.
func (i *Injector) InForce(kind histories.F, target string) bool { return i.find(kind, target) >= 0 }

// Active are the faults that have begun and are not over.
func (i *Injector) Active() []Fault {
	var all []Fault
	for _, f := range i.active {
		all = append(all, f.Fault)
	}
	return all
}

func (i *Injector) find(kind histories.F, target string) int {
	return slices.IndexFunc(i.active, func(f inForce) bool { return f.F == kind && f.Target == target })
}

// Stop heals the active fault of this kind on this target.
func (i *Injector) Stop(ctx context.Context, kind histories.F, target string) error {
	at := i.find(kind, target)
	if at < 0 {
		return fmt.Errorf("%s %s: it is not in force", kind, target)
	}
	f := i.active[at]
	i.active = slices.Delete(i.active, at, at+1)
	seen, err := f.Stop(ctx)
	seen = observed(f.seen, seen)
	if err == nil && seen == "" {
		err = errUnseen
	}
	if err != nil {
		i.record(f.Fault, histories.Info, seen, err)
		return fmt.Errorf("heal %s %s: %w", f.F, f.Target, err)
	}
	i.record(f.Fault, histories.OK, seen, nil)
	if i.missed = ""; f.Missed != nil {
		i.missed = f.Missed()
	}
	return nil
}

// HealAll stops what is in force, the latest first.
func (i *Injector) HealAll(ctx context.Context) error {
	var errs []error
	for len(i.active) > 0 {
		f := i.active[len(i.active)-1]
		errs = append(errs, i.Stop(ctx, f.F, f.Target))
	}
	return errors.Join(errs...)
}

func (i *Injector) record(f Fault, t histories.Type, seen string, err error) {
	e := histories.Event{Process: histories.Nemesis, Worker: histories.Nemesis, Type: t, F: f.F, Node: f.Target, Value: seen}
	if err != nil {
		e.Err = err.Error()
	}
	i.recorder.Record(e)
}
