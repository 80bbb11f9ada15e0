//go:build unix

package harness_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
)

// A pipe can be read but once.
func TestJudgeFileOfAPipe(t *testing.T) {
	text, err := os.ReadFile("../../checker/testdata/mutual-exclusion-bad-failover.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, text, 0o600) }()
	got, err := harness.JudgeFile(t.Context(), pipe, harness.Judging{Properties: exclusion()})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	want, err := harness.JudgeFile(t.Context(), "../../checker/testdata/mutual-exclusion-bad-failover.jsonl", harness.Judging{Properties: exclusion()})
	if err != nil {
		t.Fatal(err)
	}
	if got.Report.Verdict != checker.Fail || len(got.Cited) == 0 {
		t.Errorf("%v, %d events cited", got.Report.Verdict, len(got.Cited))
	}
	if diff := cmp.Diff(want.Cited, got.Cited); diff != "" {
		t.Errorf("cited (-of the file +of the pipe):\n%s", diff)
	}
	if diff := cmp.Diff(want.Drawn, got.Drawn); diff != "" {
		t.Errorf("drawn (-of the file +of the pipe):\n%s", diff)
	}
}
