package locks

// Spec describes one lock of the catalogue.
type Spec struct {
	Name   string
	Title  string // one line for people
	Source string // article letter and section
	Sound  bool
	// Assumption is what a sound lock needs in order to be sound.
	Assumption string
	// Flaw names the pitfalls that break a broken lock.
	Flaw string
	// Masters is the number of independent masters: 1, or 5 for Redlock.
	Masters int
	// Replicas is the number of replicas that the lock itself needs, of the first master.
	Replicas int
	// Variant names the lock whose source this one shares, if it is a variant or a mutant.
	Variant string
	// Extends, Renews, Reenters and ReadWrite say that leases are Extenders, that they are
	// Watched, and that the lock is Reentrant or an RWLocker.
	Extends, Renews, Reenters, ReadWrite bool
	// Fencing says that leases carry fencing tokens.
	Fencing bool
	// HasToken says that the key holds a token unique to the attempt. Leases are
	// Verifiers then.
	HasToken bool
	// New makes the lock for one client. Env must have Masters nodes, a clock and a
	// source of random bytes.
	New func(Env) Locker
}

// All returns every lock, broken ones first.
func All() []Spec {
	return []Spec{
		{
			Name:     "setnx-expire",
			Title:    "SETNX, then EXPIRE; DEL",
			Source:   "A 3.3, B, D",
			Flaw:     "P02, P07",
			Masters:  1,
			HasToken: true,
			New:      NewSetNXExpire,
		},
		{
			Name:     "setnx-px-del",
			Title:    "SET NX PX; unconditional DEL",
			Source:   "A 4.3, D",
			Flaw:     "P07",
			Masters:  1,
			HasToken: true,
			New:      NewSetNXPXDel,
		},
		{
			Name:     "setnx-px-get-del",
			Title:    "SET NX PX; GET, compare, DEL",
			Source:   "A 4.4, D",
			Flaw:     "P08",
			Masters:  1,
			HasToken: true,
			New:      NewSetNXPXGetDel,
		},
		{
			Name:       "setnx-px-lua",
			Title:      "SET NX PX; compare-and-delete script",
			Source:     "A 4.1, C, D",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
			Masters:    1,
			HasToken:   true,
			New:        NewSetNXPXLua,
		},
		{
			Name:       "fenced",
			Title:      "setnx-px-lua with fencing tokens",
			Source:     "R, K",
			Sound:      true,
			Assumption: "the master keeps its keys and its clock, and the resource refuses old tokens",
			Masters:    1,
			Fencing:    true,
			HasToken:   true,
			New:        NewFenced,
		},
		{
			Name:       "redlock",
			Title:      "Redlock: a majority of independent masters",
			Source:     "A 2.5, D, R",
			Sound:      true,
			Assumption: "a majority of masters keep their keys and their clocks, and the holder stops before its deadline",
			Masters:    5,
			HasToken:   true,
			New:        NewRedlock,
		},
	}
}

// Find returns the lock of that name, or an *UnknownError.
func Find(name string) (Spec, error) {
	all := All()
	known := make([]string, len(all))
	for i, spec := range all {
		if spec.Name == name {
			return spec, nil
		}
		known[i] = spec.Name
	}
	return Spec{}, &UnknownError{Kind: "lock", Name: name, Nearest: Nearest(name, known), Known: known}
}
