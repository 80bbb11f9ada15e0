package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/histories"
)

// Other names of calls, as foreign histories have them.
const (
	lockCall   histories.F = "lock"   // acquire
	unlockCall histories.F = "unlock" // release
)

// callOf is a call under the name that models know.
func callOf(f histories.F) histories.F {
	switch f {
	case lockCall:
		return histories.Acquire
	case unlockCall:
		return histories.Release
	}
	return f
}

// calls are what clients call of the model.
func (m Model) calls() []histories.F {
	switch m.Family() {
	case Register:
		return []histories.F{histories.Read, histories.Write, compareAndSet}
	case Counter:
		return []histories.F{addCall, histories.Read}
	}
	return []histories.F{histories.Acquire, histories.Release, lockCall, unlockCall}
}

// A Census is what clients call in a history. The zero Census is ready to use.
type Census struct {
	calls    map[histories.F]bool
	attempts bool // calls have them
	argued   bool // an acquire asks for, or gets, more than a lock
}

// Add counts one event.
func (c *Census) Add(e *histories.Event) {
	const most = 100 // kinds of calls, whatever a file may hold
	if e.Process <= histories.Nemesis || e.Single() {
		return
	}
	c.attempts = c.attempts || e.Attempt != 0
	if callOf(e.F) == histories.Acquire && (e.Type == histories.Invoke || e.Type == histories.OK) && !c.argued {
		t, tuple := histories.ReadTuple(e.Value)
		c.argued = e.Token != 0 || e.Value != "" && (!tuple || t.Value != "")
	}
	if e.Type == histories.Invoke && len(c.calls) < most && !c.calls[e.F] {
		if c.calls == nil {
			c.calls = make(map[histories.F]bool)
		}
		c.calls[e.F] = true
	}
}

// Model returns the model that the calls can only be of, if nobody says which: Mutex, if they
// are acquires and releases without attempts, modes and tokens. It returns "" if the history
// is one of a lock as lockbench records it, or if it cannot be said.
func (c *Census) Model() Model {
	if c.attempts || c.argued || len(c.calls) == 0 || !c.within(Mutex) {
		return ""
	}
	return Mutex
}

// OfNoModel reports whether no more calls can make Model tell one.
func (c *Census) OfNoModel() bool {
	return c.attempts || c.argued || len(c.calls) > 0 && !c.within(Mutex)
}

// within reports whether a model has all calls.
func (c *Census) within(m Model) bool {
	for f := range c.calls {
		if !slices.Contains(m.calls(), f) {
			return false
		}
	}
	return true
}

// among reports whether a model has any of the calls.
func (c *Census) among(m Model) bool {
	return slices.ContainsFunc(m.calls(), func(f histories.F) bool { return c.calls[f] })
}

// Fit returns why a history cannot be one of a model, or of a lock as lockbench records it if the
// model is empty: none of its calls is. The error names the models that have its calls.
func (c *Census) Fit(m Model) error {
	if len(c.calls) == 0 {
		return nil
	}
	if m == "" {
		if c.attempts {
			return nil
		}
		return fmt.Errorf("none of its calls has an attempt, as those of a lock have that lockbench records; its calls are %s%s", c.names(), c.advice())
	}
	if c.among(m) {
		return nil
	}
	return fmt.Errorf("no call of model %s (%s) is in it; its calls are %s%s", m, list(m.calls()), c.names(), c.advice())
}

// names are those of the calls, the first few of them.
func (c *Census) names() string {
	const most, longest = 5, 40
	var names []string
	for _, f := range slices.Sorted(maps.Keys(c.calls)) {
		name := string(f)
		if len(name) > longest {
			name = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		names = append(names, fmt.Sprintf("%q", name))
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// advice names the models to ask for.
func (c *Census) advice() string {
	var all, some []string
	for _, m := range Models() {
		name := string(m)
		if m == Semaphore {
			name += ":N"
		}
		if c.within(m) {
			all = append(all, name)
		}
		if c.among(m) {
			some = append(some, name)
		}
	}
	switch {
	case len(all) > 0:
		return "; say --model " + strings.Join(all, " or ")
	case len(some) > 0:
		return "; no model has all of them, and some of them --model " + strings.Join(some, " or ")
	}
	return "; no model has any of them, want " + list(append(Mutex.calls(), append(Register.calls(), addCall)...))
}

func list(calls []histories.F) string {
	names := make([]string, len(calls))
	for i, f := range calls {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
