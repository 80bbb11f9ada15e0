package harness_test

import (
	"testing"

	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
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
		cfg := scenario(t, s, s.Broken(), harness.Embedded)
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
