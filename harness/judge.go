package harness

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Judge judges a recorded history as a run judges its own, on some properties or, if they are
// nil, on all. meta is nil if nothing is known of the run. Faults were planned if some are
// recorded.
func Judge(ctx context.Context, events []histories.Event, meta *histories.Meta, properties []checker.Property) checker.Report {
	return judge(ctx, events, meta, properties, nil)
}

// JudgeCut is Judge for a history whose end is missing: what fails in what there is fails, and
// nothing passes.
func JudgeCut(ctx context.Context, events []histories.Event, meta *histories.Meta) checker.Report {
	end := []int{len(events)}
	return judge(ctx, events, meta, nil, end).WithGaps(end, len(events))
}

func judge(ctx context.Context, events []histories.Event, meta *histories.Meta, properties []checker.Property, gaps []int) checker.Report {
	opt := judgeOptions(meta, properties)
	opt.Gaps = gaps
	for i := range events {
		opt.FaultsExpected = opt.FaultsExpected || beginsFault(&events[i])
	}
	return checker.Check(ctx, events, opt)
}

// JudgeAs judges a history of any origin by linearizability as a model.
func JudgeAs(ctx context.Context, events []histories.Event, model checker.Model) checker.Report {
	return checker.CheckModel(ctx, events, model, judgeOptions(nil, nil))
}

func judgeOptions(meta *histories.Meta, properties []checker.Property) checker.Options {
	began := time.Now()
	opt := checker.Options{
		Properties:   properties,
		ClientFaults: nemesis.ClientFaults(),
		Now:          func() time.Duration { return time.Since(began) },
	}
	if meta != nil {
		lock, err := locks.Find(meta.Lock)
		if err == nil { // it may be of a later version
			opt.Masters = lock.Masters
		}
		if meta.TTL > 0 {
			opt.Slack = Config{TTL: meta.TTL, Lock: lock}.slack()
		}
	}
	return opt
}

func beginsFault(e *histories.Event) bool {
	return e.Process == histories.Nemesis && e.Type == histories.Invoke
}
