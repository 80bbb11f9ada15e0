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
		ClientFaults: nemesis.ClientFaults(), SparingFaults: nemesis.SparingFaults(), InstantFaults: nemesis.InstantFaults(),
		Masters: c.Lock.Masters, Threads: c.Threads,
	}
	if len(c.Worker) == 0 { // what a worker keeps where is its own business
		run.Names = func(key string) []string { return []string{key} }
		if c.Lock.Keys != nil {
			run.Names = c.Lock.Keys
		}
	}
	return run
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
