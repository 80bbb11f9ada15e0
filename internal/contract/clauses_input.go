package contract

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/locks"
)

func badInput(s *scene) error {
	type input struct {
		field string
		key   string
		ttl   time.Duration
	}
	bad := []input{
		{"key", "", long},
		{"ttl", s.key, 0},
		{"ttl", s.key, -time.Second},
		{"ttl", s.key, 999 * time.Microsecond},
		{"ttl", s.key, time.Second + time.Microsecond},
	}
	if s.spec.WholeSeconds {
		bad = append(bad, input{"ttl", s.key, 999 * time.Millisecond}, input{"ttl", s.key, 1500 * time.Millisecond})
	}
	c := s.client("A")
	acquires := []acquireFunc{c.lock.Acquire}
	if s.spec.ReadWrite {
		lock, err := c.shared()
		if err != nil {
			return err
		}
		acquires = append(acquires, lock.AcquireRead, lock.AcquireWrite)
	}
	for _, acquire := range acquires {
		for _, in := range bad {
			held, err := acquire(s.ctx, in.key, in.ttl)
			if err := refusedInput("acquire", in.field, held, err); err != nil {
				return fmt.Errorf("key %q, ttl %v: %w", in.key, in.ttl, err)
			}
		}
	}
	nodes, err := s.Inspect(s.key)
	if err != nil {
		return err
	}
	for i, node := range nodes {
		if len(node) > 0 {
			return fmt.Errorf("refused input left %v on node %d", node, i+1)
		}
	}
	if !s.spec.Extends {
		return nil
	}
	held, err := c.acquire(long)
	if err != nil {
		return err
	}
	lease, err := capable[locks.Extender](held)
	if err != nil {
		return err
	}
	for _, in := range bad[1:] {
		if err := refusedInput("extend", in.field, nil, lease.Extend(s.ctx, in.ttl)); err != nil {
			return fmt.Errorf("ttl %v: %w", in.ttl, err)
		}
	}
	return nil
}

func refusedInput(what, field string, held locks.Lease, err error) error {
	var input *locks.InputError
	ok := errors.As(err, &input) && input.Field == field
	return answered(what, held, err, ok, "an InputError about "+field)
}
