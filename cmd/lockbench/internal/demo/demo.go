// Package demo teaches: it plays a scenario with its broken lock and with one that survives
// the same steps, and tells both step by step, in English or Chinese. What clients sent, what
// Redis held and what clients believed is what was recorded; the verdicts are the judges'.
package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// Demo is one lesson of the course. Its texts are in the files of the languages, under its name.
type Demo struct {
	Name     string
	Scenario string // whose broken lock is shown
	// Fix is the survivor that is shown under the same steps.
	Fix      string
	FixGuard resource.Guard
	// FixRemedy is what the servers have then; empty: nothing. See scenarios.Scenario.With.
	FixRemedy string
	// Ask is what the reader is asked before the step that decides.
	Ask Question
}

// All returns the demos in the order in which they teach.
func All() []Demo {
	return []Demo{
		{Name: "setnx-expire", Scenario: "crash-between-setnx-expire", Fix: "setnx-px-lua", Ask: Question{Step: "B acquire eventually", About: theWait}},
		{Name: "delete-without-check", Scenario: "delete-without-check", Fix: "setnx-px-lua", Ask: Question{Step: "C acquire", About: theLock}},
		{Name: "get-del", Scenario: "get-del-race", Fix: "setnx-px-lua", Ask: Question{Step: "C acquire", About: theLock}},
		{Name: "gc-pause", Scenario: "gc-pause-lease-expiry", Fix: "fenced", FixGuard: resource.Fence, Ask: Question{Step: "stop pause A", About: theWrite}},
		{Name: "failover", Scenario: "failover-async-repl", Fix: "redlock", Ask: Question{Step: "B acquire", About: theLock}},
		{Name: "redlock-clock-jump", Scenario: "redlock-clock-jump", Fix: "redlock", FixGuard: resource.Epoch, Ask: Question{Step: "B acquire", About: theLock}},
		{Name: "redlock-restart", Scenario: "redlock-restart", Fix: "redlock", FixRemedy: "aof-always", Ask: Question{Step: "B acquire retries 2", About: theLock}},
		{Name: "rw-timestamp", Scenario: "rw-reader-overwrites-timestamp", Fix: "rw-hash", Ask: Question{Step: "C acquire", About: theLock}},
		{Name: "renewal", Scenario: "hung-holder", Fix: "watchdog", Ask: Question{Step: "B acquire eventually", About: theWait}},
		{Name: "reentrancy", Scenario: "reentrant-thread-id-collision", Fix: "reentrant-hash", Ask: Question{Step: "B acquire reentrant", About: theLock}},
		{Name: "lottery", Scenario: "lottery-runs-twice", Fix: "setnx-px-lua", FixGuard: resource.DoneMarker, Ask: Question{Step: "C acquire", Until: "C draw 1", About: theDraw}},
		{Name: "read-write", Scenario: "rw-reader-deletes-reader", Fix: "rw-hash", Ask: Question{Step: "C acquire", Nth: 2, About: theLock}},
		{Name: "redlock-validity", Scenario: "redlock-slow-majority", Fix: "redlock", Ask: Question{Step: "let-go A", About: theLock}},
		{Name: "wait", Scenario: "failover-wait", Fix: "redlock", Ask: Question{Step: "B acquire", About: theLock}},
		{Name: "split-brain", Scenario: "split-brain", Fix: "setnx-px-lua", FixGuard: resource.Epoch, Ask: Question{Step: "B acquire retries 2", About: theLock}},
	}
}

// Find returns the demo with that name, or a *catalogue.UnknownError that names the nearest.
func Find(name string) (Demo, error) {
	return catalogue.Find("demo", name, All(), func(d Demo) string { return d.Name })
}

// Options say how a demo is played.
type Options struct {
	Backend harness.Backend // optional: harness.Embedded
	Seed    uint64
	TTL     time.Duration // optional: the scenario's
	Own     *Own          // optional: in place of the broken lock
	Log     io.Writer     // optional: what a backend warns of
}

// Own is a lock of the reader's choice.
type Own struct {
	Lock   locks.Spec
	Worker []string // optional: the command of the process that each of its clients is
	Flags  string   // with which lockbench run takes it: --lock setnx
}

// Lesson is a demo that was played.
type Lesson struct {
	Demo     Demo
	Scenario scenarios.Scenario
	Own      *Own           // the lock of the reader's choice, which Broken is then; it may hold
	Broken   harness.Result // of the broken lock
	Fixed    harness.Result
}

// Outcome reports whether both runs came out as the catalogue expects.
func (l Lesson) Outcome() checker.Outcome { return l.Broken.Outcome.Or(l.Fixed.Outcome) }

// Performance is a demo that can be played.
type Performance struct {
	lesson        Lesson
	broken, fixed harness.Config
}

// Prepare returns the performance of a demo. An error means that what was asked for does not go together.
func Prepare(d Demo, o Options) (Performance, error) {
	s, err := scenarios.Find(d.Scenario)
	if err != nil {
		return Performance{}, err
	}
	p := Performance{lesson: Lesson{Demo: d, Scenario: s, Own: o.Own}}
	subject := o.Own
	if subject == nil {
		if subject, err = catalogued(s.Broken().Lock); err != nil {
			return p, err
		}
	}
	if p.broken, err = config(s, *subject, s.Broken().Guard, o); err != nil {
		return p, err
	}
	if s, err = s.With(d.FixRemedy); err != nil {
		return p, err
	}
	fix, err := catalogued(d.Fix)
	if err != nil {
		return p, err
	}
	p.fixed, err = config(s, *fix, d.FixGuard, o)
	return p, err
}

func catalogued(lock string) (*Own, error) {
	spec, err := libraries.Catalogue().Find(lock)
	return &Own{Lock: spec}, err
}

func config(s scenarios.Scenario, subject Own, guard resource.Guard, o Options) (harness.Config, error) {
	cfg, err := s.Config(subject.Lock, guard, o.Backend, o.TTL)
	if err != nil {
		return cfg, err
	}
	cfg.Snapshots, cfg.Seed, cfg.Log = true, o.Seed, o.Log
	return cfg.WithWorkers(subject.Worker)
}

// Play plays both halves. An error means that the harness failed, that a lock cannot do what the steps need (see
// harness.NotApplicable) or that a step could not be played with it (harness.Unplayed), and not that a lock broke.
func (p Performance) Play(ctx context.Context) (Lesson, error) {
	l := p.lesson
	var err error
	if l.Broken, err = play(ctx, p.broken); err != nil {
		return l, err
	}
	l.Fixed, err = play(ctx, p.fixed)
	return l, err
}

// mostAgain is how often a run is played again of which nothing is known because the machine was too busy.
const mostAgain = 4

func play(ctx context.Context, cfg harness.Config) (harness.Result, error) {
	for again := 1; ; again++ {
		res, err := harness.Run(ctx, cfg)
		if err != nil {
			return res, fmt.Errorf("%s with lock %s: %w", cfg.Name, cfg.Lock.Name, err)
		}
		if res.Outcome != checker.Undecided || !res.Busy() || again > mostAgain || ctx.Err() != nil {
			return res, nil
		}
	}
}
