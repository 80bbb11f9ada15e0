package harness

import (
	"fmt"
	"sync"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// failFast ends a random load at the first violation of what is expected to hold, or to fail; what
// was given up beforehand ends nothing. The load asks between rounds, so that in virtual time the
// same seed always ends at the same event. Everybody finishes what they are at, faults are healed,
// and what was recorded is judged as ever.
type failFast struct {
	recorder *histories.Recorder

	mu    sync.Mutex
	watch *checker.Watch
	found checker.Property
}

func newFailFast(cfg Config, recorder *histories.Recorder) *failFast {
	wants := func(p checker.Property) bool { return cfg.Want[p] != checker.NotApplicable }
	return &failFast{recorder: recorder, watch: checker.NewWatch(cfg.judgement(), wants)}
}

// enough reports whether the load need not go on.
func (l *failFast) enough() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == "" {
		l.found = l.watch.Add(l.recorder.From(l.watch.Len())...)
	}
	return l.found != ""
}

// note tells that the run ended early, and why; "" if it did not.
func (l *failFast) note() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == "" {
		return ""
	}
	return fmt.Sprintf("the load ended early (--fail-fast): %s was seen to be violated after %d events", l.found, l.watch.Len())
}

// judgement is how the run is judged.
func (t Test) judgement() checker.Options {
	return onTerms(checker.Options{
		FaultsExpected: t.Faults,
		ClientFaults:   clientFaults(),
		Slack:          t.slack(),
	}, *t.terms(nil, false))
}
