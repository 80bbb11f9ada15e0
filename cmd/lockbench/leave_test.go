package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/harness"
)

// TestLeave ends a program that does not end by itself, and gives one time that has no turn.
func TestLeave(t *testing.T) {
	for name, tc := range map[string]struct {
		every   time.Duration
		backend harness.Backend
		ticks   int // that must be enough
		ends    bool
	}{
		"in time":                   {aTick, harness.Embedded(), lastTicks, true},
		"starved":                   {3 * aTick, harness.Embedded(), 10 * lastTicks, false},
		"servers are ended":         {aTick, harness.Process(), lastTicks + int(serverTicks) - 1, false},
		"servers stay":              {aTick, harness.Process(), lastTicks + int(serverTicks), true},
		"containers are taken down": {aTick, docker.Backend(), lastTicks + int(containerTicks) - 1, false},
		"containers stay":           {aTick, docker.Backend(), lastTicks + int(containerTicks), true},
	} {
		tick, code := make(chan time.Time), make(chan int, 1)
		var stderr bytes.Buffer
		end := new(parting)
		expectServers(context.WithValue(t.Context(), partingKey{}, end), tc.backend)
		go end.leave(tick, &stderr, func(c int) { code <- c })
		at := time.Unix(1, 0)
		for range tc.ticks {
			tick <- at
			at = at.Add(tc.every)
		}
		if !tc.ends {
			select {
			case <-code:
				t.Errorf("%s: it was ended after %d ticks", name, tc.ticks)
			default:
			}
			continue
		}
		if got := <-code; got != exitHarness || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%s: exit code %d, %q", name, got, stderr.String())
		}
	}
}
