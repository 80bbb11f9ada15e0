package causes

import (
	"iter"
	"math"
	"sort"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// calling is the calls that a client sends commands for, in the order in which they began. Those of its threads are among them.
type calling struct {
	ops []*histories.Op
	end []time.Duration // when the last of the calls up to that one had returned
}

// calling returns what each client calls, by the name that its commands are recorded with.
func (s *scene) calling() map[string]calling {
	clients := map[string]calling{}
	for i := range s.ops {
		o := &s.ops[i]
		if !asks(o.Invoke.F) {
			continue
		}
		name := histories.WorkerName(o.Invoke.Worker)
		if s.thread(o.Invoke.Worker) {
			name = histories.WorkerName(0)
		}
		c, end := clients[name], time.Duration(math.MaxInt64)
		if o.Done {
			end = o.Complete.Time
		}
		if n := len(c.end); n > 0 {
			end = max(end, c.end[n-1])
		}
		clients[name] = calling{append(c.ops, o), append(c.end, end)}
	}
	return clients
}

// begun returns how many of the calls had begun at an instant.
func (c calling) begun(at time.Duration) int {
	return sort.Search(len(c.ops), func(i int) bool { return c.ops[i].Invoke.Time > at })
}

// underWay returns the calls that were under way at an instant, the last to begin first.
func (c calling) underWay(at time.Duration) iter.Seq[*histories.Op] {
	return func(yield func(*histories.Op) bool) {
		for i := c.begun(at) - 1; i >= 0 && c.end[i] >= at; i-- {
			if under(c.ops[i], at) && !yield(c.ops[i]) {
				return
			}
		}
	}
}
