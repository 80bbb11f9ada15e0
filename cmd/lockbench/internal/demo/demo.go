// Package demo teaches: it plays a scenario with its broken lock and with one that survives
// the same steps, and tells both step by step, in English or Chinese. What clients sent, what
// Redis held and what clients believed is what was recorded; the verdicts are the judges'.
package demo

import (
	"context"
	"fmt"
	"io"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
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
	// Ask is a step, as the schedule has it: before the first such one the reader is asked what it will bring.
	Ask string
	// Nth is which of the steps that are Ask is meant, from 1 on; 0: the first.
	Nth int
}

// All returns the demos in the order in which they teach.
func All() []Demo {
	return []Demo{
		{Name: "setnx-expire", Scenario: "crash-between-setnx-expire", Fix: "setnx-px-lua", Ask: "B acquire eventually"},
		{Name: "delete-without-check", Scenario: "delete-without-check", Fix: "setnx-px-lua", Ask: "C acquire"},
		{Name: "get-del", Scenario: "get-del-race", Fix: "setnx-px-lua", Ask: "C acquire"},
		{Name: "gc-pause", Scenario: "gc-pause-lease-expiry", Fix: "fenced", FixGuard: resource.Fence, Ask: "stop pause A"},
		{Name: "failover", Scenario: "failover-async-repl", Fix: "redlock", Ask: "B acquire"},
		{Name: "redlock-clock-jump", Scenario: "redlock-clock-jump", Fix: "redlock", FixGuard: resource.Epoch, Ask: "B acquire"},
		{Name: "redlock-restart", Scenario: "redlock-restart", Fix: "redlock", FixRemedy: "aof-always", Ask: "B acquire retries 2"},
		{Name: "rw-timestamp", Scenario: "rw-reader-overwrites-timestamp", Fix: "rw-hash", Ask: "C acquire"},
		{Name: "renewal", Scenario: "hung-holder", Fix: "watchdog", Ask: "B acquire eventually"},
		{Name: "reentrancy", Scenario: "reentrant-thread-id-collision", Fix: "reentrant-hash", Ask: "B acquire reentrant"},
		{Name: "lottery", Scenario: "lottery-runs-twice", Fix: "setnx-px-lua", FixGuard: resource.DoneMarker, Ask: "C draw 1"},
		{Name: "read-write", Scenario: "rw-reader-deletes-reader", Fix: "rw-hash", Ask: "C acquire", Nth: 2},
		{Name: "redlock-validity", Scenario: "redlock-slow-majority", Fix: "redlock", Ask: "let-go A"},
		{Name: "wait", Scenario: "failover-wait", Fix: "redlock", Ask: "B acquire"},
		{Name: "split-brain", Scenario: "split-brain", Fix: "setnx-px-lua", FixGuard: resource.Epoch, Ask: "B acquire retries 2"},
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
	Log     io.Writer // optional: what a backend warns of
}

// Lesson is a demo that was played.
type Lesson struct {
	Demo     Demo
	Scenario scenarios.Scenario
	Broken   harness.Result
	Fixed    harness.Result
}

// Outcome says whether both runs came out as the catalogue expects.
func (l Lesson) Outcome() checker.Outcome { return checker.Worse(l.Broken.Outcome, l.Fixed.Outcome) }

// Play plays both halves of d. An error means that the harness failed, not a lock.
func Play(ctx context.Context, d Demo, o Options) (Lesson, error) {
	s, err := scenarios.Find(d.Scenario)
	if err != nil {
		return Lesson{}, err
	}
	l := Lesson{Demo: d, Scenario: s}
	broken := s.Broken()
	if l.Broken, err = play(ctx, s, broken.Lock, broken.Guard, o); err != nil {
		return l, err
	}
	if s, err = s.With(d.FixRemedy); err != nil {
		return l, err
	}
	l.Fixed, err = play(ctx, s, d.Fix, d.FixGuard, o)
	return l, err
}

func play(ctx context.Context, s scenarios.Scenario, lock string, guard resource.Guard, o Options) (harness.Result, error) {
	spec, err := libraries.Catalogue().Find(lock)
	if err != nil {
		return harness.Result{}, err
	}
	cfg, err := s.Config(spec, guard, o.Backend, 0)
	if err != nil {
		return harness.Result{}, err
	}
	cfg.Album, cfg.Seed, cfg.Log = true, o.Seed, o.Log
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return res, fmt.Errorf("%s with lock %s: %w", s.Name, lock, err)
	}
	return res, nil
}
