package harness

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/causes"
	"github.com/lockbench/lockbench/nemesis"
)

// traces are what the causes of a run are derived from.
func (c Config) traces(res Result) causes.Run {
	run := causes.Run{
		Events: res.Events, Exchanges: res.Exchanges, Report: res.Report,
		ClientFaults:  clientFaults(),
		SparingFaults: nemesis.Faults(func(k nemesis.Kind) bool { return k.Spares }),
		InstantFaults: nemesis.Faults(func(k nemesis.Kind) bool { return k.AtOnce }),
		Masters:       c.Lock.Masters, Threads: c.Threads,
	}
	switch {
	case len(c.Worker) > 0: // as it says, or as was seen
		run.Names = c.namesIn(res.Meta.Terms)
	case c.Lock.Keys != nil:
		run.Names = c.Lock.Keys
	default:
		run.Names = func(key string) []string { return []string{key} }
	}
	return run
}

// namesIn are the names under which terms say that the lock on a key is kept, or nil if they do not say it of every key.
func (c Config) namesIn(terms *histories.Terms) func(key string) []string {
	names := map[string][]string{}
	for _, key := range c.keys() {
		if terms == nil || len(terms.Kept[key]) == 0 {
			return nil
		}
		for _, p := range terms.Kept[key] {
			names[key] = append(names[key], p.Key)
		}
	}
	return func(key string) []string { return names[key] }
}

// names are what the names of the run's causes are derived from.
func (c Config) names(res Result) anomalies.Run {
	return anomalies.Run{
		Events: res.Events, Renews: c.Lock.Class().Renews, Threads: c.Threads,
		ClockFaults: []histories.F{nemesis.ClockF}, HungFaults: []histories.F{nemesis.StallF},
	}
}

// reasons are what the catalogue says of the very case that was played, if the run came out as
// it says. They were written for that lock: of a worker, which is one of its user's, and of a run
// that came out otherwise nobody has written anything.
func (c Config) reasons(r checker.Report) (note, why string) {
	if len(c.Worker) > 0 {
		return "", ""
	}
	if outcome, _ := checker.Compare(r, c.Want); outcome != checker.AsExpected {
		return "", ""
	}
	return c.Note, c.Why
}
