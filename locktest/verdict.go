package locktest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/peers"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/scenarios"
)

// verdict is what a run of the lock found, by other locks of its class.
type verdict struct {
	own     []checker.Property // broken, and kept by others
	keptBy  []string           // of the first of own
	shared  []checker.Property // broken by every other lock of the class, too
	unknown []checker.Property // that nothing can be said of
}

// broke tells what is broken.
func (v verdict) broke() string {
	return strings.Join(report.Labels(slices.Concat(v.own, v.shared)), ", ")
}

// weigh measures what a run found by other locks of the class, under the same steps and seed.
func (r *test) weigh(ctx context.Context, s scenarios.Scenario, cfg harness.Config, res harness.Result) (v verdict) {
	got := func(p checker.Property) checker.Verdict { return res.Report.Result(p).Verdict }
	var open []checker.Judged
	for _, j := range res.Expected {
		if !j.Met && (j.Property != checker.StrictExclusion || !peers.Overstayed(r.spec, got)) {
			open = append(open, j)
		}
	}
	if len(open) == 0 {
		return v
	}
	refs := r.bench.References(ctx, s, r.spec, !r.known, cfg.Guard, cfg.Seed)
	for _, j := range open {
		keptBy, unavoidable := peers.Measure(j.Property, j.Got, refs)
		switch {
		case unavoidable && j.Got == checker.Fail:
			v.shared = append(v.shared, j.Property)
		case unavoidable:
		case j.Got == checker.Fail:
			if len(v.own) == 0 {
				v.keptBy = keptBy
			}
			v.own = append(v.own, j.Property)
		default:
			v.unknown = append(v.unknown, j.Property)
		}
	}
	return v
}

// cause returns why the lock broke what is its own fault: the nearest cause of those that the record shows.
func cause(res harness.Result, own []checker.Property) checker.Cause {
	of := func(c checker.Cause) bool {
		return slices.ContainsFunc(c.Properties, func(p checker.Property) bool { return slices.Contains(own, p) })
	}
	for _, c := range res.Causes {
		if of(c) && c.Derived() {
			return c
		}
	}
	found := res.Report.Result(own[0])
	return checker.Cause{Kind: checker.Seen, Properties: own[:1], Sentence: found.Story, Events: found.Witness}
}

// doubt says why nothing can be said of the lock.
func doubt(s scenarios.Scenario, res harness.Result, v verdict) string {
	for _, e := range res.Events {
		if e.F == histories.Standstill {
			return fmt.Sprintf("%s %s: virtual time stands still, as the lock waits for what it cannot move, such as a sync.Mutex that is held across a call to a server; "+
				"test it on real servers with -lockbench.backend=process\n%s", s.ID, s.Name, e.Err)
		}
	}
	var why []string
	for _, p := range v.unknown {
		why = append(why, report.Label(p)+": "+res.Report.Result(p).Story)
	}
	return fmt.Sprintf("%s %s: nothing can be said of %s\n  %s", s.ID, s.Name, strings.Join(report.Labels(v.unknown), ", "), strings.Join(why, "\n  "))
}
