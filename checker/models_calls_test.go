package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
)

// TestCensus checks which histories are taken for a mutex, and which cannot be judged at all.
func TestCensus(t *testing.T) {
	attempt := []histories.Event{{Process: 0, Type: histories.Invoke, F: histories.Acquire, Attempt: 1}}
	for name, test := range map[string]struct {
		events []histories.Event
		model  Model
		fits   []Model // "" is a lock as lockbench records it
	}{
		"nothing":     {nil, "", append(Models(), "")},
		"faults":      {logged(t, ":nemesis :info :start nil"), "", append(Models(), "")},
		"lockbench's": {attempt, "", []Model{"", Mutex, OwnerMutex, ReentrantFenced, ReentrantFencedRaised, ReadWriteLock, Semaphore}},
		"a mutex": {logged(t, `
			0 :invoke :acquire nil
			0 :ok :acquire nil
			0 :invoke :release nil`), Mutex, []Model{Mutex, OwnerMutex, ReentrantFenced, ReentrantFencedRaised, ReadWriteLock, Semaphore}},
		"mutexes of keys": {logged(t, "0 :invoke :lock [1 nil]"), Mutex, []Model{Mutex, OwnerMutex, ReentrantFenced, ReentrantFencedRaised, ReadWriteLock, Semaphore}},
		"readers":         {logged(t, "0 :invoke :acquire :read"), "", []Model{Mutex, OwnerMutex, ReentrantFenced, ReentrantFencedRaised, ReadWriteLock, Semaphore}},
		"tokens": {logged(t, `
			0 :invoke :acquire nil
			0 :ok :acquire 7`), "", []Model{Mutex, OwnerMutex, ReentrantFenced, ReentrantFencedRaised, ReadWriteLock, Semaphore}},
		"a register": {logged(t, "0 :invoke :write 1"), "", []Model{Register}},
		"a counter":  {logged(t, "0 :invoke :add 1"), "", []Model{Counter}},
		"reads":      {logged(t, "0 :invoke :read nil"), "", []Model{Register, Counter}},
		"others":     {logged(t, "0 :invoke :enqueue 1"), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var c Census
			for i := range test.events {
				c.Add(&test.events[i])
			}
			if got := c.Model(); got != test.model {
				t.Errorf("model is %q, want %q", got, test.model)
			}
			var fits []Model
			for _, m := range append(Models(), "") {
				if c.Fit(m) == nil {
					fits = append(fits, m)
				}
			}
			slices.Sort(fits)
			if want := slices.Sorted(slices.Values(test.fits)); !slices.Equal(fits, want) {
				t.Errorf("fits %q, want %q", fits, want)
			}
		})
	}
}

// TestCensusBounded checks that a file of many or long names is told in a few words.
func TestCensusBounded(t *testing.T) {
	var c Census
	for i := range 1000 {
		c.Add(&histories.Event{Type: histories.Invoke, F: histories.F(fmt.Sprint(i, strings.Repeat("é\x00", 1000)))})
	}
	if err := c.Fit(Register); err == nil || len(err.Error()) > 1000 || strings.ContainsRune(err.Error(), 0) {
		t.Errorf("%v", err)
	}
}
