package checker

import (
	"cmp"
	"slices"
)

// sweep is the interval engine. It decides whether the sections of one key could
// be those of a mutex, and returns the first overlap of the stretch's own in order of grants, and how
// many sections overlap an earlier one. No overlap means that they could.
//
// It is exact. If no two beliefs (granted, end) overlap, put every acquire just
// before the return that granted it and every end just after the call that ended
// it: sections follow one another. If two beliefs overlap, both acquires come
// before both ends whatever the choice, so two attempts hold at once.
//
// A surfaced section has no belief. Its end lies anywhere in its release call,
// with its acquire just before, so it needs one free instant there. There is none
// only if one belief covers the whole call: between two beliefs that do not
// overlap there is always room, as no two ends share a rank.
//
// Sections that may share their key are another matter: see sweepParties.
func sweep(sections []section) overlapping {
	if sharing(sections) {
		return sweepParties(sections)
	}
	believed := make([]*section, 0, len(sections))
	surfaced := make([]*section, 0)
	for i := range sections {
		if sections[i].surfaced {
			surfaced = append(surfaced, &sections[i])
		} else {
			believed = append(believed, &sections[i])
		}
	}
	byGrant := func(a, b *section) int { return cmp.Compare(a.granted, b.granted) }
	slices.SortFunc(believed, byGrant)
	slices.SortFunc(surfaced, byGrant)

	var found overlapping

	// longest[i] is the belief that ends last among the first i+1.
	longest := make([]*section, len(believed))
	for i, s := range believed {
		longest[i] = s
		if i == 0 {
			continue
		}
		if before := longest[i-1]; before.end > s.granted {
			found.take(overlap{first: before, second: s})
		}
		if longest[i-1].end > s.end {
			longest[i] = longest[i-1]
		}
	}
	for _, s := range surfaced {
		// Only a belief that was granted before the release call can cover it.
		i, _ := slices.BinarySearchFunc(believed, s.end, func(b *section, r rank) int { return cmp.Compare(b.granted, r) })
		if i > 0 && longest[i-1].end > s.bound {
			found.take(overlap{first: longest[i-1], second: s})
		}
	}
	return found
}

// overlapping are the overlaps of some sections.
type overlapping struct {
	n     int     // all
	own   int     // those whose second section was granted in the stretch
	first overlap // of them
}

func (o *overlapping) take(x overlap) {
	if o.n++; x.second.old {
		return
	}
	if o.own == 0 || x.second.granted < o.first.second.granted {
		o.first = x
	}
	o.own++
}
