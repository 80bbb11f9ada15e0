package harness

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// Judge judges a recorded history as a run judges its own, on some properties or, if they are
// nil, on all. meta is nil if nothing is known of the run (see WithTerms), and exchanges if no commands were
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

// judgeAs judges a history of any origin by linearizability as a model.
func judgeAs(ctx context.Context, events []histories.Event, model checker.Model) checker.Report {
	return checker.CheckModel(ctx, events, model, judgeOptions(nil, nil))
}

// clientFaults are the faults that cannot change what a server holds.
func clientFaults() []histories.F {
	return nemesis.Faults(func(k nemesis.Kind) bool { return k.Client })
}

// Terms are what a run is judged on, or a history of which nothing is known.
func Terms(meta *histories.Meta) checker.Options { return judgeOptions(meta, nil) }

func judgeOptions(meta *histories.Meta, properties []checker.Property) checker.Options {
	began := time.Now()
	opt := checker.Options{
		Properties:   properties,
		ClientFaults: clientFaults(),
		Now:          func() time.Duration { return time.Since(began) },
	}
	if meta != nil {
		opt.Seed = meta.Seed
	}
	if meta != nil && meta.TTL > 0 {
		opt.Slack = Test{TTL: meta.TTL}.slack()
	}
	if meta != nil && meta.Terms != nil {
		opt = onTerms(opt, *meta.Terms)
	}
	return opt
}

// WithTerms returns what is known of a run with the terms that it was judged on, if its lock tells them: an
// earlier version wrote none. The lock may be one of a later version, that the catalogue does not have.
func WithTerms(meta *histories.Meta, all locks.Catalogue) *histories.Meta {
	if meta == nil || meta.Terms != nil {
		return meta
	}
	lock, err := all.Find(meta.Lock)
	if err != nil {
		return meta
	}
	with := *meta
	with.Terms = &histories.Terms{Masters: lock.Masters, Tolerance: lock.Promises.Tolerance}
	return &with
}

// onTerms are options with the terms of a run.
func onTerms(opt checker.Options, t histories.Terms) checker.Options {
	opt.Masters, opt.Tolerance, opt.Poll, opt.SilentRelease, opt.Overtaking = t.Masters, t.Tolerance, t.Poll, t.SilentRelease, t.Overtaking
	opt.Threads = t.Threads
	return opt
}

// witness are the commands of a run as the judges may use them; nil if they may not.
func witness(t *histories.Terms, exchanges []histories.Exchange) *checker.Commands {
	if t == nil || !t.Witness || len(exchanges) == 0 {
		return nil
	}
	return checker.NewCommands(exchanges, func(key string) []histories.Place { return t.Kept[key] }, registerNode)
}

// Kept tells where the servers of a run keep the lock on each key, and which node keeps none; nil if its
// commands are no witness of the judges.
func Kept(meta *histories.Meta) (kept map[string][]histories.Place, register string) {
	if meta == nil || meta.Terms == nil || !meta.Terms.Witness {
		return nil, ""
	}
	return meta.Terms.Kept, registerNode
}

// terms are those of a run on keys of which it is known where the lock is kept. whole says that
// all of its commands were kept.
func (t Test) terms(keys []player.Key, whole bool) *histories.Terms {
	p := t.Lock.Promises
	terms := &histories.Terms{
		Masters: t.Lock.Masters, Tolerance: p.Tolerance, Poll: p.Poll, SilentRelease: p.SilentRelease, Overtaking: t.Overtaking, Threads: t.Threads,
		Kept: make(map[string][]histories.Place), Witness: whole && t.Threads == 0,
	}
	for _, key := range keys {
		for _, name := range key.Kept.Names {
			terms.Kept[key.Name] = append(terms.Kept[key.Name], histories.Place{DB: key.Kept.Database, Key: name})
		}
	}
	return terms
}

func beginsFault(e *histories.Event) bool {
	return e.Process == histories.Nemesis && e.Type == histories.Invoke
}
