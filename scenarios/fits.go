package scenarios

import (
	"fmt"

	"github.com/lockbench/lockbench/locks"
)

// Unfit says why the scenario has nothing to say of a lock; empty: it has. What all locks have
// that the scenario names, its steps may use. find finds those locks.
func (s Scenario) Unfit(lock locks.Spec, find func(string) (locks.Spec, error)) (string, error) {
	if err := s.Script.Needs(lock); err != nil {
		return err.Error(), nil
	}
	if s.Threads > 0 && !lock.Promises.Threads {
		return "its clients are threads of one process, and the lock does not say that several may use it", nil
	}
	if s.ClusterMode && lock.Database != 0 {
		return fmt.Sprintf("a Redis Cluster has no other database than 0, and the lock is kept in database %d", lock.Database), nil
	}
	var named []locks.Spec
	for _, c := range s.Cases {
		spec, err := find(c.Lock)
		if err != nil {
			return "", fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		named = append(named, spec)
	}
	for _, need := range []struct {
		what string
		has  func(locks.Spec) bool
	}{
		{"its steps need a lock that has readers and writers", func(l locks.Spec) bool { return l.ReadWrite }},
		{"its steps need a lock that can be re-entered", func(l locks.Spec) bool { return l.Reenters }},
		{"its steps need a lock that issues fencing tokens", func(l locks.Spec) bool { return l.Fencing }},
	} {
		if all(named, need.has) && !need.has(lock) {
			return need.what, nil
		}
	}
	if !lock.Keeps(s.Asks) {
		return fmt.Sprintf("the lock does not promise that %s", s.Asks), nil
	}
	if all(named, func(l locks.Spec) bool { return l.Masters > lock.Masters }) {
		return fmt.Sprintf("its steps need a lock on %d independent masters", named[0].Masters), nil
	}
	return "", nil
}

func all(specs []locks.Spec, has func(locks.Spec) bool) bool {
	for _, s := range specs {
		if !has(s) {
			return false
		}
	}
	return true
}
