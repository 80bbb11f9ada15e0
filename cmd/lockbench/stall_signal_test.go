//go:build unix

package main

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestStoppedLockbench stops lockbench by SIGSTOP at random instants of runs of sound locks, for
// several leases. No run may accuse its lock, and the stall is on record.
func TestStoppedLockbench(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	r, seen := rand.New(rand.NewPCG(5, 13)), 0
	ttl, stop := "400ms", 1500*time.Millisecond
	if effort.Nightly() {
		ttl, stop = "1s", 5*time.Second
	}
	var mu sync.Mutex
	slots := make(chan struct{}, 4)
	var runs sync.WaitGroup
	for range effort.Count(6, 100) {
		lock := []string{"setnx-px-lua", "redlock", "watchdog", "fenced", "bsm-redislock"}[r.IntN(5)]
		wait := 50*time.Millisecond + time.Duration(r.Int64N(int64(time.Second)))
		slots <- struct{}{}
		c := startLong(t, "--lock", lock, "--backend", "process", "--clients", "3", "--ttl", ttl, "--time-limit", "3s")
		runs.Go(func() {
			defer func() { <-slots }()
			time.Sleep(wait) // at a random instant; the run may be over by then
			if c.Process.Signal(syscall.SIGSTOP) == nil {
				time.Sleep(stop)
				_ = c.Process.Signal(syscall.SIGCONT) // it cannot have ended since
			}
			<-c.ended
			if code := c.ProcessState.ExitCode(); code != exitExpected && code != exitUnknown {
				t.Errorf("%s, stopped for %v after %v: %v\n%s%s", lock, stop, wait, c.ProcessState, c.stdout.String(), c.stderr.String())
			}
			_, events, err := histories.Load(c.kept())
			if err != nil {
				t.Error(err)
			}
			for _, e := range events {
				if e.F == histories.Stall && e.TTL >= stop/2 {
					mu.Lock()
					seen++
					mu.Unlock()
				}
			}
		})
	}
	runs.Wait()
	if seen == 0 {
		t.Error("no run has its stall on record")
	}
}
