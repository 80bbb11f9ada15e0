package checker

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

func TestLockModels(t *testing.T) {
	const (
		a     = "0 :invoke :acquire nil\n0 :ok :acquire nil\n"
		b     = "1 :invoke :acquire nil\n1 :ok :acquire nil\n"
		c     = "2 :invoke :acquire nil\n2 :ok :acquire nil\n"
		freeA = "0 :invoke :release nil\n0 :ok :release nil\n"
		freeB = "1 :invoke :release nil\n1 :ok :release nil\n"
	)
	acquire := func(process int, value string) string {
		return fmt.Sprintf("%d :invoke :acquire nil\n%[1]d :ok :acquire %s\n", process, value)
	}
	enter := func(process int, mode string) string {
		return fmt.Sprintf("%d :invoke :acquire %s\n%[1]d :ok :acquire %[2]s\n", process, mode)
	}
	tests := []struct {
		name    string
		model   Model
		history string
		want    Verdict
		witness []int
	}{
		{"turns", OwnerMutex, a + freeA + b + freeB, Pass, nil},
		{"two at once", OwnerMutex, a + b, Fail, []int{0, 1, 2, 3}},
		{"another's release", OwnerMutex, a + freeB, Fail, []int{2, 3}},
		{"which a mutex accepts", Mutex, a + freeB, Pass, nil},
		{"no re-entry", OwnerMutex, a + a, Fail, []int{0, 1, 2, 3}},
		{"an unknown release frees", OwnerMutex, a + "0 :invoke :release nil\n0 :info :release nil\n" + b, Pass, nil},
		{"another's unknown release does not", OwnerMutex, a + "1 :invoke :release nil\n1 :info :release nil\n" + c, Fail, []int{0, 1, 4, 5}},
		{"an unknown acquire need not hold", OwnerMutex, "0 :invoke :acquire nil\n0 :info :acquire nil\n" + b, Pass, nil},

		{"two permits", "semaphore:2", a + b + freeA + c, Pass, nil},
		{"both mine", "semaphore:2", a + a + freeA + freeA + b, Pass, nil},
		{"three of two", "semaphore:2", a + b + c, Fail, []int{0, 1, 2, 3, 4, 5}},
		{"two of one", "semaphore:1", a + b, Fail, []int{0, 1, 2, 3}},
		{"three of three", "semaphore:3", a + b + c, Pass, nil},
		{"a permit that is not mine", "semaphore:2", a + freeB, Fail, []int{2, 3}},
		{"a permit too often", "semaphore:2", a + b + freeA + freeA, Fail, []int{4, 5, 6, 7}},

		{"in and out again", ReentrantFenced, acquire(0, "1") + acquire(0, "1") + freeA + freeA + acquire(1, "2"), Pass, nil},
		{"another in between", ReentrantFenced, acquire(0, "1") + acquire(0, "1") + freeA + acquire(1, "2"), Fail, []int{0, 1, 2, 3, 6, 7}},
		{"re-entry raises", ReentrantFenced, acquire(0, "1") + acquire(0, "2"), Fail, []int{0, 1, 2, 3}},
		{"or must", ReentrantFencedRaised, acquire(0, "1") + acquire(0, "2") + freeA + freeA + acquire(1, "3"), Pass, nil},
		{"re-entry keeps", ReentrantFencedRaised, acquire(0, "1") + acquire(0, "1"), Fail, []int{0, 1, 2, 3}},
		{"the next does not raise", ReentrantFenced, acquire(0, "7") + freeA + acquire(1, "7"), Fail, []int{2, 3, 4, 5}},
		{"nor does it go down", ReentrantFencedRaised, acquire(0, "7") + freeA + acquire(1, "6"), Fail, []int{2, 3, 4, 5}},

		{"readers share", ReadWriteLock, enter(0, "read") + enter(1, "read") + enter(1, "read") + freeB + freeA, Pass, nil},
		{"a writer among them", ReadWriteLock, enter(0, "read") + enter(1, "write"), Fail, []int{0, 1, 2, 3}},
		{"a reader beside a writer", ReadWriteLock, enter(0, "write") + enter(1, "read"), Fail, []int{0, 1, 2, 3}},
		{"two writers", ReadWriteLock, enter(0, "nil") + enter(1, "nil"), Fail, []int{0, 1, 2, 3}},
		{"the last reader", ReadWriteLock, enter(0, "read") + enter(1, "read") + freeA + enter(2, "write"), Fail, []int{2, 3, 6, 7}},
		{"turns of readers and writers", ReadWriteLock, enter(0, "read") + freeA + enter(1, "write") + freeB + enter(2, "read"), Pass, nil},
	}
	for _, tt := range tests {
		t.Run(string(tt.model)+" "+tt.name, func(t *testing.T) {
			report := CheckModel(t.Context(), logged(t, tt.history), tt.model, Options{})
			res := report.Result(Linearizability)
			if len(report.HarnessErrors) > 0 || res.Verdict != tt.want {
				t.Fatalf("%+v, want %v", report, tt.want)
			}
			if !slices.Equal(res.Witness, tt.witness) {
				t.Errorf("witness %v, want %v: %s", res.Witness, tt.witness, res.Story)
			}
		})
	}
}

// A plainLock is a model written down as plainly as can be, to compare with.
type plainLock struct {
	readers map[int]int
	writer  int // nobody: -1
	permits map[int]int
	highest int64
	current int64
}

func newPlainLock() *plainLock {
	return &plainLock{readers: map[int]int{}, writer: -1, permits: map[int]int{}}
}

func (l *plainLock) clone() *plainLock {
	other := *l
	other.readers, other.permits = maps.Clone(l.readers), maps.Clone(l.permits)
	return &other
}

// takes reports whether the lock can take a call, and takes it.
func (l *plainLock) takes(model Model, f histories.F, owner int, value string, token int64) bool {
	taken := 0
	for _, n := range l.permits {
		taken += n
	}
	if f == histories.Release {
		switch {
		case l.permits[owner] > 0:
			l.permits[owner]--
		case l.readers[owner] > 0:
			l.readers[owner]--
		case l.writer == owner:
			l.writer = -1
		default:
			return false
		}
		return true
	}
	switch model.Family() {
	case OwnerMutex:
		if taken > 0 {
			return false
		}
	case Semaphore:
		if n, err := strconv.Atoi(string(model[len("semaphore:"):])); err != nil || taken >= n {
			return false
		}
	case ReadWriteLock:
		reading := 0
		for _, n := range l.readers {
			reading += n
		}
		switch {
		case l.writer >= 0, value != "read" && reading > 0:
			return false
		case value == "read":
			l.readers[owner]++
		default:
			l.writer = owner
		}
		return true
	case ReentrantFenced, ReentrantFencedRaised:
		again := l.permits[owner] > 0
		switch {
		case taken > l.permits[owner]:
			return false
		case token == 0 && !again:
			l.current = 0
		case token == 0:
		case again && model == ReentrantFenced && l.current != 0:
			if token != l.current {
				return false
			}
		case token <= l.highest:
			return false
		default:
			l.current, l.highest = token, token
		}
	}
	l.permits[owner]++
	return true
}

// explains tries every order of every choice of unknown calls.
func (l *plainLock) explains(model Model, ops []histories.Op, done uint) bool {
	missing := false
	for i, o := range ops {
		if done&(1<<i) != 0 {
			continue
		}
		unknown := o.Outcome() == histories.Info
		missing = missing || !unknown
		first := true // no other that is left returned before it began
		for j, other := range ops {
			if done&(1<<j) == 0 && other.Outcome() == histories.OK && other.Complete.Index < o.Invoke.Index {
				first = false
			}
		}
		if !first {
			continue
		}
		after := l.clone()
		if after.takes(model, o.Invoke.F, o.Invoke.Worker, o.Invoke.Value, o.Complete.Token) && after.explains(model, ops, done|1<<i) {
			return true
		}
	}
	return !missing
}

// randomCalls is a short history of acquires and releases that overlap.
func randomCalls(rng *rand.Rand, model Model) []histories.Event {
	type client struct {
		process, holds int
		open           histories.F
	}
	clients := []*client{{process: 0}, {process: 1}, {process: 2}}
	next, token, calls := 3, int64(0), 0
	var events []histories.Event
	for range 6 + rng.IntN(10) {
		w := rng.IntN(len(clients))
		c := clients[w]
		e := histories.Event{Index: len(events), Process: c.process, Worker: w, F: c.open}
		if c.open == "" {
			if calls++; calls > 8 {
				break
			}
			c.open = histories.Acquire
			if rng.IntN(8) == 0 || c.holds > 0 && rng.IntN(4) > 0 {
				c.open = histories.Release
			}
			e.Type, e.F = histories.Invoke, c.open
			if model == ReadWriteLock && c.open == histories.Acquire && rng.IntN(3) > 0 {
				e.Value = "read"
			}
			events = append(events, e)
			continue
		}
		switch e.Type = histories.OK; rng.IntN(6) {
		case 0:
			e.Type, c.process, next = histories.Info, next, next+1
		case 1:
			e.Type = histories.Fail
		}
		if e.F == histories.Acquire && e.Type == histories.OK {
			c.holds++
			if rng.IntN(3) > 0 {
				token++
			}
			e.Token = max(1, token)
		} else if e.F == histories.Release && e.Type == histories.OK {
			c.holds = max(0, c.holds-1)
		}
		c.open = ""
		events = append(events, e)
	}
	return events
}

// TestLockModelsDifferential compares the models with the plain ones, which try everything.
func TestLockModelsDifferential(t *testing.T) {
	n, seed := effort.Count(800, 4_000), uint64(20250104)
	for _, model := range []Model{OwnerMutex, "semaphore:2", "semaphore:3", ReentrantFenced, ReentrantFencedRaised, ReadWriteLock} {
		t.Run(string(model), func(t *testing.T) {
			count := map[Verdict]int{}
			for i := range n {
				events := randomCalls(rand.New(rand.NewPCG(seed, uint64(i))), model)
				report := CheckModel(t.Context(), events, model, Options{})
				got := report.Result(Linearizability)
				ops, err := histories.Pair(events)
				if err != nil || len(report.HarnessErrors) > 0 {
					t.Fatal(err, report.HarnessErrors)
				}
				ops = slices.DeleteFunc(ops, func(o histories.Op) bool { return o.Outcome() == histories.Fail })
				if len(ops) == 0 {
					continue
				}
				count[got.Verdict]++
				want := Fail
				if newPlainLock().explains(model, ops, 0) {
					want = Pass
				}
				if got.Verdict != want {
					t.Fatalf("history %d of seed %d is %v, want %v: %s\n%s", i, seed, got.Verdict, want, got.Story, show(events))
				}
				minimalCore(t, events, model, got)
			}
			t.Log(count)
			if count[Pass] < n/20 || count[Fail] < n/20 {
				t.Error("the comparison says little")
			}
		})
	}
}
