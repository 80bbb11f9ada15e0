package checker

import (
	"fmt"

	"github.com/lockbench/lockbench/histories"
)

func mutexType() datatype {
	return datatype{
		noun: "mutex",
		init: false,
		read: func(o histories.Op) (action, error) {
			if f := o.Invoke.F; f != histories.Acquire && f != histories.Release {
				return action{}, fmt.Errorf("the call is %q, want acquire or release", f)
			}
			return action{f: o.Invoke.F}, nil
		},
		step: func(state any, do action) (bool, any) {
			locked := do.f == histories.Acquire
			if state == any(locked) {
				return do.unknown, state
			}
			return true, locked
		},
		tells: func(do action) string {
			if do.f == histories.Acquire {
				return "was granted the lock"
			}
			return "released the lock"
		},
		idle: alwaysActs,
	}
}
