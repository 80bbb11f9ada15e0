package gate

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/peers"
)

// bench measures what runs of the user's lock found by other locks of its class.
type bench struct{ peers.Bench }

func newBench(opt Options) *bench {
	return &bench{peers.Bench{Locks: opt.Locks, Run: opt.Run, Version: opt.Version}}
}

// weigh measures what a run of the user's lock found by other locks of its class: what none of
// them keeps under the same steps is no fault of its own. If ctx ends, nothing of it counts.
func (b *bench) weigh(ctx context.Context, it item, row Row) Row {
	if row.Outcome != Unexpected && row.Outcome != Unknown || len(row.Judged) == 0 {
		return row
	}
	for i, f := range row.Judged {
		if f.Property == checker.StrictExclusion && !f.Met && peers.Overstayed(it.subject.Lock, row.got) {
			row.Judged[i].Want, row.Judged[i].Met, row.Judged[i].Story = checker.NotApplicable, true, ""
		}
	}
	if row.judged() == Expected {
		row.Outcome = Expected
		return row
	}
	stranger := it.subject.Lock.New == nil // it is known to its worker alone
	refs := b.References(ctx, it.scenario, it.subject.Lock, stranger, it.cfg.Guard, row.Seed)
	for i := range row.Judged {
		if f := &row.Judged[i]; !f.Met {
			f.KeptBy, f.Unavoidable = peers.Measure(f.Property, f.Got, refs)
		}
	}
	row.Outcome = row.judged()
	for _, ref := range refs {
		row.References = append(row.References, ref.Name)
	}
	row.Survivors = b.survivors(ctx, it, row)
	return row
}

// got is what was found of a property.
func (r Row) got(p checker.Property) checker.Verdict {
	for _, f := range r.Judged {
		if f.Property == p {
			return f.Got
		}
	}
	return checker.Unknown
}

// judged is what all findings of a row count for.
func (r Row) judged() Outcome {
	outcome := NotApplicable
	for _, f := range r.Judged {
		outcome = worse(outcome, f.outcome())
	}
	return outcome
}

// outcome is what a finding counts for.
func (f Finding) outcome() Outcome {
	switch {
	case f.Met:
		return Expected
	case f.Unavoidable:
		return Unavoidable
	case f.Got == checker.Unknown || f.Got == checker.Disagreement:
		return Unknown
	}
	return Unexpected
}

// survivors are the cases of the catalogue with a sound lock that were seen to keep, under the same steps, all
// that no lock of the class does.
func (b *bench) survivors(ctx context.Context, it item, row Row) []Survivor {
	var all []Survivor
	if len(row.Unavoidable()) == 0 {
		return nil
	}
	for _, c := range it.scenario.Survivors() {
		if lock, err := b.Locks.Find(c.Lock); err != nil || !lock.Sound {
			continue
		}
		verdicts := b.Verdicts(ctx, it.scenario, peers.Trial{Remedy: c.Remedy, Lock: c.Lock, Guard: c.Guard, Seed: row.Seed})
		if verdicts != nil && !slices.ContainsFunc(row.Unavoidable(), func(f Finding) bool { return verdicts[f.Property] != checker.Pass }) {
			all = append(all, Survivor{Lock: c.Lock, Guard: c.Guard.String(), Remedy: c.Remedy})
		}
	}
	return all
}
