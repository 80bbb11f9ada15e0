//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// heard tells when something is written to it for the first time.
type heard struct {
	once sync.Once
	ever chan struct{}
	mu   sync.Mutex
	b    bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.once.Do(func() { close(h.ever) })
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// TestInterruptGate interrupts a gate as soon as it tells how far it is. What was done until
// then is told and kept, and accepted as no baseline.
func TestInterruptGate(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t) // where runs wait and do not compute
	t.Parallel()
	c := newChild(t, "gate", "--backend", "process", "--only", "P08,P11", "--lock", "setnx-px-lua", "--runs", "2000", "--jobs", "1",
		"--json", "gate.json", "--junit", "gate.xml", "--baseline", "base.json", "--update-baseline")
	stderr := &heard{ever: make(chan struct{})}
	c.Stderr = stderr
	c.start(t)
	select {
	case <-stderr.ever:
	case <-c.ended:
		t.Fatalf("ended before it told anything: %v\n%s", c.ProcessState, c.stdout.String())
	}
	c.end(t, os.Interrupt)
	if code := c.ProcessState.ExitCode(); code != exitHarness {
		t.Errorf("exit code %d, want %d", code, exitHarness)
	}
	if !regexp.MustCompile(`lockbench: interrupted after \d+ of 4000 runs\n$`).MatchString(stderr.String()) {
		t.Errorf("stderr: %q", stderr.String())
	}
	if !strings.Contains(c.stdout.String(), "Verdict: none, as it was cut short after") {
		t.Errorf("stdout: %s", c.stdout.String())
	}
	res, err := gate.Read(filepath.Join(c.dir, "gate.json"))
	if err != nil || len(res.Rows) == 0 || res.Whole() {
		t.Errorf("kept: %d of %d runs, %v", len(res.Rows), res.Share, err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "gate.xml")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "base.json")); !os.IsNotExist(err) {
		t.Errorf("half a gate became a baseline: %v", err)
	}
}

// TestCancelledBeforeGate checks that a gate which never began says so.
func TestCancelledBeforeGate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"gate", "--only", "P08"}, &stdout, &stderr)
	if code != exitHarness || stderr.String() != "lockbench: interrupted after 0 of 3 runs\n" {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}
