package locks

import "slices"

// Steps are what of the steps, or faults, decides by whom a lock is measured.
type Steps struct {
	// Failover says that they take a server from the lock: one on a single master that promises
	// to survive that is then measured by those that do, and they need several masters for it.
	Failover bool
	// Resent says that commands are sent twice, or that their replies get lost: a lock that does not
	// promise that a request which is sent again counts once is then measured by those that do not, either.
	Resent bool
}

// References returns the locks of all by which the lock is measured: what every one of them
// breaks under the same steps, no lock of its class survives. They are sound and promise
// nothing that the lock does not promise. The first group promises as much as there is, each
// later one less; a later one counts only where no lock of those before can play the steps.
//
// No lock is a reference for itself, for its variants, or for the lock that it is a variant
// of. stranger says that the lock is none of all, whatever its name.
func (s Spec) References(stranger bool, steps Steps, all []Spec) [][]Spec {
	class := s.Class()
	failover := steps.Failover && class.Failover && !class.Quorum
	var fair []Spec
	for _, r := range all {
		if !r.Sound || !stranger && r.family() == s.family() {
			continue
		}
		if steps.Resent && r.Promises.Once && !s.Promises.Once {
			continue
		}
		if failover && r.Class() == (Class{Quorum: true, Failover: true}) || !failover && r.Class().Within(class) {
			fair = append(fair, r)
		}
	}
	var groups [][]Spec
	for len(fair) > 0 {
		var most, rest []Spec
		for _, r := range fair {
			if slices.ContainsFunc(fair, func(other Spec) bool { return other.Class() != r.Class() && r.Class().Within(other.Class()) }) {
				rest = append(rest, r)
			} else {
				most = append(most, r)
			}
		}
		groups, fair = append(groups, most), rest
	}
	return groups
}

// family is the name of the lock whose source this one shares, or its own.
func (s Spec) family() string {
	if s.Variant != "" {
		return s.Variant
	}
	return s.Name
}
