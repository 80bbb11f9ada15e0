package checker

import "slices"

// Peers are the locks of a lock's class by which a run of it was measured: what none of them
// keeps under the same load and faults is no fault of its own.
type Peers struct {
	Class      string   `json:"class"`      // of the lock, in words
	References []string `json:"references"` // locks of the class that were played; none: there are none
	Seed       uint64   `json:"seed"`       // the first that they were played with
	Seeds      int      `json:"seeds"`      // with how many, from the first on, at most
	// Alike says that the seed of the run drew what its clients do, and that the references drew the same with every seed. What one of them
	// breaks is unavoidable then.
	Alike bool `json:"alike,omitempty"`
	// Unavoidable is what each of the references that could breaks with one of the seeds.
	Unavoidable []Property `json:"unavoidable,omitempty"`
	// Rare is what the lock itself broke too seldom, when it was played again alike, for references to show whose fault it is.
	Rare []Property `json:"rare,omitempty"`
	// Faulted is what was broken under a fault that takes keys away from a server, while no command or answer of the lock
	// is known that explains it: whose fault it is cannot be told.
	Faulted []Property `json:"faulted,omitempty"`
	// Own are the faults of the lock itself.
	Own []OwnFault `json:"own,omitempty"`
}

// OwnFault is a property that a lock breaks and others of its class keep.
type OwnFault struct {
	Property Property `json:"property"`
	KeptBy   []string `json:"kept_by,omitempty"` // with all of the seeds; none: there are no references
}

// Weigh tells what a run broke from what was to be expected of it: what is unavoidable decides
// nothing any more, and of what is rare or comes of faults alone it cannot be said.
func (j *Judgement) Weigh(p Peers) {
	j.Peers, j.Outcome = &p, AsExpected
	for i := range j.Expected {
		e := &j.Expected[i]
		if slices.Contains(p.Unavoidable, e.Property) {
			e.Want, e.Met = NotApplicable, true
		}
		outcome := e.outcome()
		if slices.Contains(p.Rare, e.Property) || slices.Contains(p.Faulted, e.Property) {
			outcome = Undecided
		}
		j.Outcome = j.Outcome.Or(outcome)
	}
}
