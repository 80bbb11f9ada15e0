package harness

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/workloads"
)

// Judge judges a recorded history as a run judges its own, on some properties or, if they are
// nil, on all. meta is nil if nothing is known of the run, and exchanges if no commands were
// kept. Faults were planned if some are recorded.
func Judge(ctx context.Context, events []histories.Event, exchanges []histories.Exchange, meta *histories.Meta, properties []checker.Property) checker.Report {
	return judge(ctx, events, exchanges, meta, properties, nil)
}

// JudgeCut is Judge for a history whose end is missing: what fails in what there is fails, and
// nothing passes.
func JudgeCut(ctx context.Context, events []histories.Event, exchanges []histories.Exchange, meta *histories.Meta) checker.Report {
	end := []int{len(events)}
	return judge(ctx, events, exchanges, meta, nil, end).WithGaps(end, len(events))
}

func judge(ctx context.Context, events []histories.Event, exchanges []histories.Exchange, meta *histories.Meta, properties []checker.Property, gaps []int) checker.Report {
	opt := judgeOptions(meta, properties)
	if meta != nil {
		opt.Commands = witness(meta.Terms, exchanges)
	}
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

// Terms are what a run is judged on, or a history of which nothing is known.
func Terms(meta *histories.Meta) checker.Options { return judgeOptions(meta, nil) }

func judgeOptions(meta *histories.Meta, properties []checker.Property) checker.Options {
	began := time.Now()
	opt := checker.Options{
		Properties:   properties,
		ClientFaults: nemesis.ClientFaults(),
		Now:          func() time.Duration { return time.Since(began) },
	}
	if meta != nil {
		opt.Seed = meta.Seed
	}
	if meta != nil && meta.TTL > 0 {
		opt.Slack = Config{TTL: meta.TTL}.slack()
	}
	switch {
	case meta == nil:
	case meta.Terms != nil:
		opt = onTerms(opt, *meta.Terms)
	default:
		if lock, err := locks.Find(meta.Lock); err == nil { // it may be of a later version
			opt.Masters, opt.Tolerance = lock.Masters, lock.Promises.Tolerance
		}
	}
	return opt
}

// onTerms are options with the terms of a run.
func onTerms(opt checker.Options, t histories.Terms) checker.Options {
	opt.Masters, opt.Tolerance, opt.Poll, opt.SilentRelease, opt.Overtaking = t.Masters, t.Tolerance, t.Poll, t.SilentRelease, t.Overtaking
	return opt
}

// witness are the commands of a run as the judges may use them; nil if they may not.
func witness(t *histories.Terms, exchanges []histories.Exchange) *checker.Commands {
	if t == nil || !t.Witness || len(exchanges) == 0 {
		return nil
	}
	return checker.NewCommands(exchanges, func(key string) []histories.Place { return t.Kept[key] }, registerNode)
}

// terms are those of a run on keys of which it is known where the lock is kept. whole says that
// all of its commands were kept.
func (c Config) terms(keys []workloads.Key, whole bool) *histories.Terms {
	p := c.Lock.Promises
	t := &histories.Terms{
		Masters: c.Lock.Masters, Tolerance: p.Tolerance, Poll: p.Poll, SilentRelease: p.SilentRelease, Overtaking: c.Overtaking,
		Kept: make(map[string][]histories.Place), Witness: whole && c.Tape && c.Threads == 0,
	}
	for _, key := range keys {
		for _, name := range key.Kept.Names {
			t.Kept[key.Name] = append(t.Kept[key.Name], histories.Place{DB: key.Kept.Database, Key: name})
		}
	}
	return t
}

func beginsFault(e *histories.Event) bool {
	return e.Process == histories.Nemesis && e.Type == histories.Invoke
}
