package oracle

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// A ruling is what may be said of a property of a history.
type ruling uint8

const (
	free     ruling = iota // the definitions leave it open, or another property may be to blame as well
	mustNot                // an explanation keeps the property: who accuses it is wrong
	mustFail               // no explanation keeps it: who does not accuse it misses something
)

func (r ruling) String() string { return [...]string{"free", "must not fail", "must fail"}[r] }

// mostWrongs is how many wrongs of a server are assumed at most.
const mostWrongs = 3

// properties are all that are ruled on. The last ones are those that the server's wrongs tell
// apart, in the order of their bits.
var properties = [...]checker.Property{
	checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured,
	checker.Ownership, checker.TruthfulReplies, checker.Reentrancy, checker.Fencing,
}

func served() []checker.Property { return properties[3:] }

// verdicts rules on a history.
//
// Exclusion and lease honoured are statements about grants alone: they must fail if no order
// and instants keep them, and must not if some do; see belief and duty.
//
// What one answer tells of the others depends on which of them are believed. So the other
// properties go by the explanations with the fewest wrongs (see server): a property must not fail
// that one of them keeps, and must fail if all break it. A grant inside another's lease is lease
// honoured's to tell: it is assumed without reserve only if that must fail. If the strict and the
// generous do not agree on what the fewest wrongs are, nothing is ruled.
func verdicts(h history, in *room) map[checker.Property]ruling {
	s := newSearch(h, in)
	v := map[checker.Property]ruling{
		checker.StrictExclusion: s.excludes(h, false),
		checker.LeaseExclusion:  s.excludes(h, true),
		checker.LeaseHonoured:   s.honours(),
	}
	for _, p := range served() {
		v[p] = free
	}
	s.serves(v)
	return v
}

func (s *search) excludes(h history, leases bool) ruling {
	t := s.surfacing()
	ends, steady := t.ends(h, leases)
	if !steady {
		return free
	}
	t.onlyTheShown()
	t.run(rules{}, t.belief(ends))
	switch {
	case t.fewest == none:
		return mustFail
	case t.oneOfSeveral(), t.late(ends):
		return free
	}
	return mustNot
}

// oneOfSeveral says that an accepted call shows one of several acquires to have been granted,
// and not which.
func (s *search) oneOfSeveral() bool {
	return slices.ContainsFunc(s.acts, func(a act) bool {
		return a.known && a.outcome == histories.OK && a.of >= 0 && s.acts[a.of].outcome == histories.Info && !s.acts[a.of].surfaced
	})
}

// onlyTheShown leaves acquires of unknown outcome out unless they surfaced. They would only be
// in the way.
func (s *search) onlyTheShown() {
	for i := range s.acts {
		if a := &s.acts[i]; !a.known {
			a.before |= 1 << i
		}
	}
}

func (s *search) honours() ruling {
	t := s.owing()
	if t.run(rules{}, (*search).duty); t.fewest != none {
		return mustNot
	}
	if t.run(rules{generous: true}, (*search).duty); t.fewest != none {
		return free
	}
	return mustFail
}

// flawless says that a sound lock explains a history, so that no property of a server may fail.
func flawless(h history, in *room) bool {
	s := newSearch(h, in)
	s.run(rules{}, (*search).server)
	return s.fewest == 0 && s.honours() == mustNot
}

// serves rules on the properties that the server tells apart.
func (s *search) serves(v map[checker.Property]ruling) {
	beside := v[checker.LeaseHonoured] == mustFail
	for budget := range int8(mostWrongs + 1) {
		s.run(rules{beside: beside, budget: budget}, (*search).server)
		kept, found := s.kept, s.fewest != none
		if !found || budget > 0 {
			s.run(rules{generous: true, beside: true, budget: budget}, (*search).server)
		}
		if s.fewest < budget || !found && s.fewest != none {
			return
		}
		if !found {
			continue
		}
		for p, property := range served() {
			switch {
			case kept[p] <= budget:
				v[property] = mustNot
			case s.kept[p] > budget:
				v[property] = mustFail
			}
		}
		return
	}
}
