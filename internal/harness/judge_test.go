package harness_test

import (
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// TestJudgeAsTheRunDid checks that a run which is read back is judged as it was: what depends
// on the lock is known from its name.
func TestJudgeAsTheRunDid(t *testing.T) {
	for _, name := range []string{"redlock-orphan", "renewal-outlives-unlock"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := scenario(t, s, s.Broken(), harness.Embedded())
		cfg.Out = t.TempDir()
		res := run(t, cfg)
		meta, events, err := histories.Load(res.Dir)
		if err != nil {
			t.Fatal(err)
		}
		again := harness.Judge(t.Context(), events, res.Exchanges, &meta, nil)
		for _, was := range res.Report.Results {
			if is := again.Result(was.Property); is.Verdict != was.Verdict {
				t.Errorf("%s: %s is %v, and was %v: %s", name, was.Property, is.Verdict, was.Verdict, is.Story)
			}
		}
	}
}

// TestWithTerms checks that a run of a version which wrote no terms is judged on those of its lock, if it is known.
func TestWithTerms(t *testing.T) {
	all := libraries.Catalogue()
	old := &histories.Meta{Lock: "redsync"}
	if got := harness.WithTerms(old, all); got.Terms == nil || got.Terms.Masters != 5 || old.Terms != nil || harness.Terms(got).Masters != 5 {
		t.Errorf("with terms %+v, before %+v", got.Terms, old.Terms)
	}
	if got := harness.WithTerms(old, locks.All()); got.Terms != nil {
		t.Errorf("a lock that is not in the catalogue has terms %+v", got.Terms)
	}
	told := &histories.Meta{Lock: "redsync", Terms: &histories.Terms{Masters: 3}}
	if got := harness.WithTerms(told, all); got.Terms.Masters != 3 {
		t.Errorf("the terms of the run became %+v", got.Terms)
	}
	if got := harness.WithTerms(nil, all); got != nil {
		t.Errorf("of an unknown run there is %+v", got)
	}
}
