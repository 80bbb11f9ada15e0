// Package peers measures a lock by others of its class: what none of them keeps under the same
// steps, or under the same load and faults, is no fault of its own (docs/adr/0013, 0015, 0033).
package peers

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
)

// Verdicts are what was said of a lock. Nil: it could not be played, or nothing could be said.
type Verdicts map[checker.Property]checker.Verdict

// Of returns the verdicts of a report, or nil if all it says is that nothing is known: what put
// nothing to the test excuses nobody.
func Of(r checker.Report) Verdicts {
	v, looked := Verdicts{}, false
	for _, res := range r.Results {
		v[res.Property] = res.Verdict
		looked = looked || res.Verdict == checker.Pass || res.Verdict == checker.Fail
	}
	if !looked {
		return nil
	}
	return v
}

// Reference is a lock of the class, and what is said of it.
type Reference struct {
	Name     string
	Verdicts Verdicts
}

// Play returns the references of the first group in which some can be played.
func Play(groups [][]locks.Spec, play func(locks.Spec) Verdicts) []Reference {
	for _, specs := range groups {
		var all []Reference
		for _, spec := range specs {
			if v := play(spec); v != nil {
				all = append(all, Reference{spec.Name, v})
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// Measure says which references keep a property of which got was found, and, if none does,
// whether that is unavoidable.
func Measure(p checker.Property, got checker.Verdict, refs []Reference) (keptBy []string, unavoidable bool) {
	shared := false
	for _, ref := range refs {
		switch v := ref.Verdicts[p]; {
		case v == checker.Pass:
			keptBy = append(keptBy, ref.Name)
		case v == checker.Fail, got != checker.Fail && v != checker.NotApplicable:
			shared = true // what cannot be seen of the reference may remain unseen
		}
	}
	return keptBy, shared && len(keptBy) == 0
}
