package contract

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/locks"
)

func mutualExclusion(s *scene) error {
	const clients, rounds = 8, 5
	all := make([]*client, clients)
	for i := range all {
		all[i] = s.client(fmt.Sprintf("client-%d", i))
	}
	// A lock that nobody gets is not one that many wait for.
	first, err := all[0].acquire(long)
	if err != nil {
		return err
	}
	if err := s.release(first); err != nil {
		return err
	}
	var (
		wg   sync.WaitGroup
		race rivalry
		errs = make([]error, clients)
	)
	for i, c := range all {
		wg.Go(func() {
			if errs[i] = race.run(c, rounds, time.Duration(i+3)*time.Millisecond); errs[i] != nil {
				race.failed.Store(true)
			}
		})
	}
	wg.Wait()
	// What else went wrong, such as a release that is refused, may come of that.
	if n := race.most.Load(); n > 1 {
		return fmt.Errorf("%d clients hold the lock at once", n)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if got := race.counter.Load(); got != clients*rounds {
		return fmt.Errorf("counter is %d after %d increments: %d updates were lost", got, clients*rounds, clients*rounds-got)
	}
	return nil
}

// rivalry is what clients do that all want the lock, and what shows whether two had it at once.
type rivalry struct {
	inside  atomic.Int64
	most    atomic.Int64 // that were inside at once
	failed  atomic.Bool  // who still waits need not: one client has found the lock broken
	counter atomic.Int64 // read and written as two steps, so that an overlap loses an update
}

// run lets a client get the lock so many times, and goes on after an overlap.
func (r *rivalry) run(c *client, rounds int, pause time.Duration) error {
	s := c.scene
	var wrong error
	for round := range rounds {
		held, err := r.compete(c, pause)
		if held == nil {
			return err
		}
		n := r.inside.Add(1)
		for most := r.most.Load(); n > most && !r.most.CompareAndSwap(most, n); {
			most = r.most.Load()
		}
		seen := r.counter.Load()
		section := time.Millisecond
		if round == 0 {
			section = 30 * time.Millisecond // so that every other client meets this one
		}
		if err := c.Clock.Sleep(s.ctx, section); err != nil {
			wrong = err
		}
		r.counter.Store(seen + 1)
		r.inside.Add(-1)
		if err := s.release(held); err != nil {
			return err
		}
		if err := c.Clock.Sleep(s.ctx, 4*pause); err != nil { // it is the others' turn
			wrong = err
		}
	}
	return wrong
}

// compete acquires the lock against others. The pause between attempts grows, and
// differs between clients, so that split votes do not repeat. It returns nothing if another
// client has failed meanwhile.
func (r *rivalry) compete(c *client, pause time.Duration) (locks.Lease, error) {
	const tries = 2000
	var err error
	for try := range tries {
		var held locks.Lease
		if held, err = c.lock.Acquire(c.scene.ctx, c.scene.key, long); err == nil {
			return held, nil
		}
		if r.failed.Load() {
			return nil, nil
		}
		if err := c.Clock.Sleep(c.scene.ctx, pause*time.Duration(1+try%3)); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%d attempts to acquire failed, the last with: %w", tries, err)
}
