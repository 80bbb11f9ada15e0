package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// Promised is what the lock of a worker keeps, beyond what its capabilities show. What is left
// out is promised as little as can be.
type Promised struct {
	Masters       int     `json:"masters,omitempty"`        // independent servers that the lock is kept on: 1 or 5; 0 means 1
	Replicas      int     `json:"replicas,omitempty"`       // that the lock needs of the first master, 0 to 2
	NoLease       bool    `json:"no_lease,omitempty"`       // see locks.Promises, here and below
	Tolerance     float64 `json:"tolerance,omitempty"`      // in ms
	Poll          float64 `json:"poll,omitempty"`           // in ms
	Renews        *bool   `json:"renews,omitempty"`         // leases are renewed until they are released; nil: if the worker has CanLost
	Fencing       bool    `json:"fencing,omitempty"`        // leases carry fencing tokens
	Fair          bool    `json:"fair,omitempty"`           //
	ExtendAdds    bool    `json:"extend_adds,omitempty"`    //
	SilentRelease bool    `json:"silent_release,omitempty"` //
	WholeSeconds  bool    `json:"whole_seconds,omitempty"`  // any other TTL is refused as invalid
	Failover      bool    `json:"failover,omitempty"`
	Once          bool    `json:"once,omitempty"`
	NeverShortens bool    `json:"never_shortens,omitempty"`
	BoundedHold   bool    `json:"bounded_hold,omitempty"`
	Endless       bool    `json:"endless,omitempty"`
	PowerLoss     bool    `json:"power_loss,omitempty"`
	DefaultTTL    float64 `json:"default_ttl,omitempty"` // in ms
}

// Description is what a worker's hello says of it and of its lock.
type Description struct {
	Protocol int
	// Spec is the lock. It has no New, as nobody but the worker can make it.
	Spec locks.Spec
}

// Describe starts a worker, says hello to it and ends it. lock is the lock of the catalogue
// that the user has asked for, or empty. A worker that calls itself as a lock of the catalogue is
// called otherwise. One that cannot be spoken to is a *BrokenError.
func Describe(ctx context.Context, command []string, lock string, all locks.Catalogue) (d Description, err error) {
	fleet, err := NewFleet(ctx, command, nil)
	if err != nil {
		return Description{}, err
	}
	defer func() { err = errors.Join(err, fleet.Close()) }()
	p, err := start(ctx, fleet.launcher, "that is asked what it is", command, nil, grace, fleet.fail)
	if err != nil {
		return Description{}, err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	a, err := p.hello(ctx, lock)
	if err != nil {
		return Description{}, err
	}
	spec := specOf(a)
	if _, err := all.Find(spec.Name); err == nil {
		spec.Name += " (worker)"
	}
	return Description{Protocol: a.Protocol, Spec: spec}, nil
}

// Over is a lock of the catalogue as a worker has it: under the names and in the database
// that its hello tells of, and with no more capabilities than the worker has.
func (d Description) Over(spec locks.Spec) locks.Spec {
	said := d.Spec
	spec.Promises.Threads, spec.Promises.ReleasesTwice = said.Promises.Threads, said.Promises.ReleasesTwice
	spec.Promises.ReleasesRefused, spec.Promises.Verifies = said.Promises.ReleasesRefused, said.Promises.Verifies
	spec.Promises.WithoutTTL = said.Promises.WithoutTTL
	if d.Protocol < 2 {
		return spec
	}
	if said.Keys != nil {
		spec.Keys = said.Keys
	}
	spec.Extends = spec.Extends && said.Extends
	spec.Reenters = spec.Reenters && said.Reenters
	spec.ReadWrite = spec.ReadWrite && said.ReadWrite
	spec.Waits = spec.Waits && said.Waits
	spec.Guards, spec.Database = said.Guards, said.Database
	return spec
}

// hello makes the process say what it is. An answer that cannot be is the process's end.
func (p *process) hello(ctx context.Context, lock string) (Answer, error) {
	a, err := p.call(ctx, Request{Op: Hello, Protocol: oldest, Newest: Protocol, Setting: &Setting{Lock: lock}})
	if err != nil {
		return a, err
	}
	switch {
	case a.Type != OK || a.Protocol < oldest || a.Protocol > Protocol:
		err = fmt.Errorf("answers hello with %q and protocol %d, want %q and %d to %d", a.Type, a.Protocol, OK, oldest, Protocol)
	case a.PID != 0 && !osproc.InGroup(a.PID, p.cmd.Process.Pid):
		err = fmt.Errorf("says that it is process %d, which does not belong to the process group that was started", a.PID)
	default:
		err = a.sensible()
	}
	if err != nil {
		p.fail(err)
		return a, p.useless()
	}
	p.protocol, p.can, p.spec = a.Protocol, a.Can, specOf(a)
	return a, nil
}

// sensible returns what of an answer to hello cannot be.
func (a Answer) sensible() error {
	for _, k := range a.Keys {
		if !strings.Contains(k, keyMark) {
			return fmt.Errorf("says in its hello that %q is the name of a key, want %s in it where the name of the lock goes", k, keyMark)
		}
	}
	if a.Database < 0 {
		return fmt.Errorf("says in its hello that its database is %d, want 0 or more", a.Database)
	}
	for _, g := range a.Guards {
		if _, err := resource.FindGuard(g); err != nil {
			return fmt.Errorf("says in its hello that it knows a guard that there is not: %w", err)
		}
	}
	p := a.Promises
	if p == nil {
		return nil
	}
	switch {
	case p.Masters != 0 && p.Masters != 1 && p.Masters != mostMasters:
		return fmt.Errorf("promises in its hello a lock on %d masters, want 1 or %d", p.Masters, mostMasters)
	case p.Replicas < 0 || p.Replicas > mostReplicas:
		return fmt.Errorf("promises in its hello a lock with %d replicas, want 0 to %d", p.Replicas, mostReplicas)
	case !(p.Tolerance >= 0 && p.Tolerance <= longest) || !(p.Poll >= 0 && p.Poll <= longest):
		return fmt.Errorf("promises in its hello a tolerance of %g ms and a poll of %g ms, want 0 or more", p.Tolerance, p.Poll)
	case !(p.DefaultTTL >= 0 && p.DefaultTTL <= longest):
		return fmt.Errorf("promises in its hello a default_ttl of %g ms, want 0 or more", p.DefaultTTL)
	}
	return nil
}

const (
	// keyMark stands for the name of the lock in the name of a key.
	keyMark      = "%s"
	mostMasters  = 5
	mostReplicas = 2
	longestName  = 60
)

// specOf is the lock that an answer to hello tells of.
func specOf(a Answer) locks.Spec {
	said := a.Promises
	if said == nil {
		said = &Promised{}
	}
	can := func(capability string) bool { return slices.Contains(a.Can, capability) }
	spec := locks.Spec{
		Name: nameOf(a.Worker), Title: "the lock of a worker", Sound: true,
		Masters: max(said.Masters, 1), Replicas: said.Replicas,
		Extends: can(CanExtend), Reenters: can(CanReenter), ReadWrite: can(CanShare), Waits: can(CanWait),
		Renews:       can(CanLost),
		Fencing:      said.Fencing,
		WholeSeconds: said.WholeSeconds,
		Guards:       guardsOf(a),
		Database:     a.Database,
		Promises: locks.Promises{
			NoLease:   said.NoLease,
			Tolerance: duration(said.Tolerance),
			Poll:      duration(said.Poll),
			Fair:      said.Fair,
			Threads:   can(CanThreads), ReleasesTwice: can(CanReleaseTwice), ReleasesRefused: can(CanReleaseRefused), Verifies: can(CanVerify),
			WithoutTTL: can(CanWithoutTTL), DefaultTTL: duration(said.DefaultTTL),
			ExtendAdds: said.ExtendAdds, SilentRelease: said.SilentRelease,
			Failover: said.Failover, Once: said.Once, NeverShortens: said.NeverShortens, BoundedHold: said.BoundedHold,
			Endless: said.Endless, PowerLoss: said.PowerLoss,
		},
	}
	if said.Renews != nil {
		spec.Promises.Renews = *said.Renews && !spec.Renews
		spec.Renews = *said.Renews && spec.Renews
	}
	spec.HasToken = slices.Contains(spec.Guards, resource.CheckToken.String())
	if len(a.Keys) > 0 {
		spec.Keys = func(key string) []string {
			var all []string
			for _, k := range a.Keys {
				all = append(all, strings.ReplaceAll(k, keyMark, key))
			}
			return all
		}
	}
	return spec
}

// guardsOf are the guards that a worker knows. One that says nothing knows the one that there
// is nothing to know of.
func guardsOf(a Answer) []string {
	if len(a.Guards) == 0 {
		return []string{resource.None.String()}
	}
	return a.Guards
}

// nameOf is what a lock is called whose worker calls itself so.
func nameOf(worker string) string {
	name := strings.Join(strings.FieldsFunc(worker, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if runes := []rune(name); len(runes) > longestName {
		name = string(runes[:longestName])
	}
	if name == "" {
		return "worker"
	}
	return name
}

// promised is what the worker of a lock of the catalogue says that the lock keeps.
func promised(s locks.Spec) *Promised {
	renews := s.Renews || s.Promises.Renews
	p := s.Promises
	return &Promised{
		Masters: s.Masters, Replicas: s.Replicas, NoLease: p.NoLease,
		Tolerance: milliseconds(p.Tolerance), Poll: milliseconds(p.Poll), Renews: &renews, Fencing: s.Fencing, Fair: p.Fair,
		ExtendAdds: p.ExtendAdds, SilentRelease: p.SilentRelease, WholeSeconds: s.WholeSeconds,
		Failover: p.Failover, Once: p.Once, NeverShortens: p.NeverShortens, BoundedHold: p.BoundedHold, Endless: p.Endless, PowerLoss: p.PowerLoss,
		DefaultTTL: milliseconds(p.DefaultTTL),
	}
}
