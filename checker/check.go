package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Options says what the run intended and how much effort its judgement may cost.
// The zero value is usable.
type Options struct {
	// FaultsExpected says that the run planned faults. If all of them missed the
	// lock, the run is vacuous.
	FaultsExpected bool
	// Slack is added to the TTL before a waiting client counts as starved. 0 or
	// less means DefaultSlack.
	Slack time.Duration
	// Budget bounds each call of the porcupine engine in real time. A call that
	// runs out of it leaves its property Unknown. 0 or less means DefaultBudget.
	Budget time.Duration
	// ClientFaults names the faults that only stop, cut or delay clients. Every
	// other fault may make a lock server forget or split a hold, and ownership is
	// then not judged by what vanished. Nil means the faults named "hold" and "pause".
	ClientFaults []histories.F
	// Now is a monotonic clock for Result.Took. Nil leaves Took at 0.
	Now func() time.Duration
}

// Defaults of Options.
const (
	DefaultSlack  = 500 * time.Millisecond
	DefaultBudget = 30 * time.Second
)

func (o Options) slack() time.Duration {
	if o.Slack <= 0 {
		return DefaultSlack
	}
	return o.Slack
}

func (o Options) budget() time.Duration {
	if o.Budget <= 0 {
		return DefaultBudget
	}
	return o.Budget
}

func (o Options) clientFaults() []histories.F {
	if o.ClientFaults == nil {
		return []histories.F{"hold", "pause"}
	}
	return o.ClientFaults
}

func (o Options) now() time.Duration {
	if o.Now == nil {
		return 0
	}
	return o.Now()
}

// A judge judges one property. It sets neither Property nor Took. An error means
// that the harness or the checker is wrong; the property is then Unknown.
type judge func(context.Context, *record, Options) (Result, error)

// bench is every property with its judge, in the order of reports.
func bench() []seat {
	return []seat{
		{StrictExclusion, strictExclusion()},
		{LeaseExclusion, leaseExclusion()},
		{Ownership, judgeOwnership},
		{ResourceSafety, judgeResource},
		{DeadlockFreedom, judgeDeadlock},
	}
}

type seat struct {
	property Property
	judge    judge
}

// Check judges the history of one run on every property.
//
// The harness's own assumptions come first: a history that histories.Validate
// rejects is not judged, and every property is Unknown. When ctx ends, the
// properties that are not decided yet stay Unknown.
//
// The porcupine engine bounds itself with real timers and goroutines, so Check
// must not be called inside a testing/synctest bubble.
func Check(ctx context.Context, events []histories.Event, opt Options) Report {
	return check(ctx, events, opt, bench())
}

func check(ctx context.Context, events []histories.Event, opt Options, seats []seat) Report {
	var report Report
	rec, unfit := newRecord(events)
	switch {
	case unfit != nil:
		report.HarnessErrors = []string{fmt.Sprintf("the history cannot be judged: %v", unfit)}
		report.refuse(seats, "The history breaks the harness's own assumptions, so it was not judged.")
	case len(events) == 0:
		report.Vacuous = []string{"the history is empty"}
		report.refuse(seats, "The history is empty.")
	default:
		for _, s := range seats {
			res, err := s.hear(ctx, rec, opt)
			if err != nil {
				report.HarnessErrors = append(report.HarnessErrors, fmt.Sprintf("%s: %v", s.property, err))
			}
			report.Results = append(report.Results, res)
		}
		report.doubt(vacuities(rec, opt))
	}
	verdicts := make([]Verdict, 0, len(report.Results))
	for _, r := range report.Results {
		verdicts = append(verdicts, r.Verdict)
	}
	report.Verdict = Merge(verdicts...)
	return report
}

// refuse leaves every property Unknown.
func (r *Report) refuse(seats []seat, story string) {
	for _, s := range seats {
		r.Results = append(r.Results, Result{Property: s.property, Story: story})
	}
}

// hear runs the judge. One that returns an error or panics leaves its property
// Unknown, with the reason as its story.
func (s seat) hear(ctx context.Context, rec *record, opt Options) (res Result, err error) {
	start := opt.now()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the judge panicked: %v", p)
		}
		if err != nil {
			res.Verdict, res.Witness = Unknown, nil
			res.Story = fmt.Sprintf("Not judged, and not the lock's fault: %v.", err)
		}
		res.Property, res.Took = s.property, opt.now()-start
	}()
	if ctx.Err() != nil {
		return Result{Story: fmt.Sprintf("Not judged: %v.", context.Cause(ctx))}, nil
	}
	return s.judge(ctx, rec, opt)
}
