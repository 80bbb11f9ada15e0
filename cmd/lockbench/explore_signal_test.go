//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestInterruptExplore interrupts a search as soon as it tells that it has found something. What was found until then is told and kept.
func TestInterruptExplore(t *testing.T) {
	effort.Real(t)
	t.Parallel()
	c := newChild(t, "explore", "setnx-px-del", "--depth", "2", "--json", "found.json")
	stderr := &heard{ever: make(chan struct{})}
	c.Stderr = stderr
	c.start(t)
	for !strings.Contains(stderr.String(), " found ") {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-c.ended:
			t.Fatalf("ended before it told of a finding: %v\n%s\n%s", c.ProcessState, c.stdout.String(), stderr)
		}
	}
	c.end(t, os.Interrupt)
	if code := c.ProcessState.ExitCode(); code != exitHarness {
		t.Errorf("exit code %d, want %d", code, exitHarness)
	}
	if out := c.stdout.String(); !strings.Contains(out, "\nBROKEN   ") || !strings.Contains(out, "ownership") {
		t.Errorf("stdout: %s\nstderr: %s", out, stderr)
	}
	r, err := readRecord(filepath.Join(c.dir, "found.json"))
	if err != nil || len(r.Findings) == 0 || len(r.Done) == len(r.Programs) {
		t.Errorf("kept: %d findings, %d of %d programs, %v", len(r.Findings), len(r.Done), len(r.Programs), err)
	}
}
