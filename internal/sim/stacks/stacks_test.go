package stacks_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/sim/stacks"
)

func stand(name chan<- string, end <-chan struct{}) {
	name <- stacks.Goroutine()
	<-end
}

// TestOf finds a goroutine, and tells it the same way twice.
func TestOf(t *testing.T) {
	var told []string
	for range 2 {
		name, end := make(chan string), make(chan struct{})
		go stand(name, end)
		who := <-name
		until := time.Now().Add(time.Minute)
		for !strings.HasPrefix(stacks.Of(who), "chan receive:\n") && time.Now().Before(until) { // until it stands
			time.Sleep(time.Millisecond)
		}
		told = append(told, stacks.Of(who))
		close(end)
	}
	const want = "chan receive:\n  stacks_test.stand (stacks_test.go:14)"
	if told[0] != want || told[1] != want {
		t.Errorf("got %q, want %q", told, want)
	}
	if got := stacks.Of("goroutine 0"); got != "" {
		t.Errorf("of no goroutine: %q", got)
	}
}

// TestIn tells the goroutines of one bubble from others.
func TestIn(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		name, end := make(chan string, 1), make(chan struct{})
		go stand(name, end)
		synctest.Wait()
		found := 0
		for _, s := range stacks.In(stacks.Bubble()) {
			if strings.Contains(stacks.Frames(s), "stacks_test.stand") {
				found++
				if stacks.State(s) != "chan receive" {
					t.Errorf("it does %q", stacks.State(s))
				}
			}
		}
		if found != 1 {
			t.Errorf("found %d", found)
		}
		close(end)
	})
	if others := stacks.In("synctest bubble 99999"); len(others) > 0 {
		t.Errorf("in no bubble: %q", others)
	}
}
