package checker

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench/histories"
)

// Calls of registers and counters that locks do not have.
const (
	compareAndSet histories.F = "cas" // sets a value where it finds another
	addCall       histories.F = "add"
)

func registerType(initial string) datatype {
	return datatype{
		noun:  "register",
		helps: sets,
		init:  initial,
		read: func(o histories.Op) (action, error) {
			do := action{f: o.Invoke.F, a: o.Invoke.Value}
			switch do.f {
			case histories.Read:
				do.a = o.Complete.Value
			case histories.Write:
			case compareAndSet:
				pair := histories.Elements(o.Invoke.Value)
				if len(pair) != 2 {
					return do, fmt.Errorf("the value of cas is %q, want a pair such as [1 2]", o.Invoke.Value)
				}
				do.a, do.b = pair[0], pair[1]
			default:
				return do, fmt.Errorf("the call is %q, want read, write or cas", do.f)
			}
			return do, nil
		},
		step: func(state any, do action) (bool, any) {
			switch {
			case do.f == histories.Read:
				return state == any(do.a), state
			case do.f == histories.Write:
				return true, do.a
			case state == any(do.a):
				return true, do.b
			}
			return do.unknown, state
		},
		tells: func(do action) string {
			switch do.f {
			case histories.Read:
				return "read " + orNil(do.a)
			case histories.Write:
				return "wrote " + orNil(do.a)
			}
			return fmt.Sprintf("set %s where it expected %s", orNil(do.b), orNil(do.a))
		},
		idle: func(do action) bool { return do.f == histories.Read },
	}
}

// sets are those of free that set what somebody must have found: one of kept, or a cas that is
// of help itself.
func sets(kept, free []timedAction) []timedAction {
	wanted := make(map[string]bool)
	for _, x := range kept {
		if x.f != histories.Write {
			wanted[x.a] = true
		}
	}
	result := func(do action) string {
		if do.f == compareAndSet {
			return do.b
		}
		return do.a
	}
	for more := true; more; {
		more = false
		for _, x := range free {
			if x.f == compareAndSet && wanted[x.b] && !wanted[x.a] {
				wanted[x.a], more = true, true
			}
		}
	}
	return slices.DeleteFunc(free, func(x timedAction) bool { return !wanted[result(x.action)] })
}

func orNil(value string) string {
	if value == "" {
		return "nil"
	}
	return value
}

func counterType() datatype {
	return datatype{
		noun: "counter",
		init: int64(0),
		read: func(o histories.Op) (action, error) {
			do := action{f: o.Invoke.F}
			text := o.Invoke.Value
			switch do.f {
			case histories.Read:
				if o.Outcome() != histories.OK {
					return do, nil
				}
				text = o.Complete.Value
			case addCall:
			default:
				return do, fmt.Errorf("the call is %q, want add or read", do.f)
			}
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return do, fmt.Errorf("the value of %s is %q, want an integer", do.f, text)
			}
			do.n = n
			return do, nil
		},
		step: func(state any, do action) (bool, any) {
			if do.f == histories.Read {
				return state == any(do.n), state
			}
			return true, state.(int64) + do.n
		},
		tells: func(do action) string {
			if do.f == histories.Read {
				return fmt.Sprintf("read %d", do.n)
			}
			return fmt.Sprintf("added %d", do.n)
		},
		idle: func(do action) bool { return do.f == histories.Read },
	}
}
