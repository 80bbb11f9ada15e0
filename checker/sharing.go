package checker

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

// Some acquires are ready to share their key: readers with readers, re-entries with the
// other holds of their worker (histories.Mode). Those that may hold one key at once form a
// party, and a key belongs to one party at a time. A mutex is the case in which
// every attempt is a party of its own; its engines are simpler, and judge all keys of
// which nobody would share.

// party is what the attempts of one party have in common.
type party struct {
	mode    histories.Mode
	worker  int    // of re-entries
	attempt uint64 // of those who share with nobody
}

func partyOf(h *histories.Hold) party {
	switch h.Mode {
	case histories.Shared:
		return party{mode: h.Mode}
	case histories.Reentrant:
		return party{mode: h.Mode, worker: h.Worker}
	}
	return party{attempt: h.Attempt}
}

// sharing reports whether any of the sections would share its key.
func sharing(sections []section) bool {
	for i := range sections {
		if sections[i].hold.Mode != histories.Exclusive {
			return true
		}
	}
	return false
}

// sweepParties is the interval engine for sections that may share. It decides as sweep
// does, but only sections of two parties can overlap.
//
// A surfaced section needs an instant in its release call that is free of other parties.
// Several beliefs that overlap, those of readers, may cover the call together.
func sweepParties(sections []section) overlapping {
	var believed, surfaced []*section
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
	reaches := make([]reach, len(believed)+1) // reaches[i] is that of the first i beliefs
	for i, s := range believed {
		if first := reaches[i].of(partyOf(s.hold)); first != nil && first.end > s.granted {
			found.take(overlap{first: first, second: s})
		}
		reaches[i+1] = reaches[i].with(s)
	}
	for _, s := range surfaced {
		var cover []*section
		for end := s.end; end < s.bound; {
			// Only a belief that was granted before the cover ends can prolong it.
			i, _ := slices.BinarySearchFunc(believed, end, func(b *section, r rank) int { return cmp.Compare(b.granted, r) })
			next := reaches[i].of(partyOf(s.hold))
			if next == nil || next.end <= end {
				cover = nil // and here is a free instant
				break
			}
			cover, end = append(cover, next), next.end
		}
		if len(cover) > 0 {
			found.take(overlap{first: cover[0], second: s, cover: cover[1:]})
		}
	}
	return found
}

// reach is which beliefs end last: of all, and of all other parties than that one's.
type reach struct{ longest, rival *section }

// of is the belief that ends last of those that do not belong to p, or nil.
func (r reach) of(p party) *section {
	if r.longest != nil && partyOf(r.longest.hold) == p {
		return r.rival
	}
	return r.longest
}

// with is the reach with one more belief.
func (r reach) with(s *section) reach {
	switch mine := partyOf(s.hold); {
	case r.longest == nil:
		return reach{longest: s}
	case s.end > r.longest.end && partyOf(r.longest.hold) == mine:
		return reach{s, r.rival}
	case s.end > r.longest.end:
		return reach{s, r.longest}
	case partyOf(r.longest.hold) != mine && (r.rival == nil || s.end > r.rival.end):
		return reach{r.longest, s}
	}
	return r
}

// holders is the state of a key that one party may share: which party has it, and the
// sections that hold it, in order.
type holders struct {
	party    party
	sections string // 8 bytes for each
}

// parties is an owner-aware lock that a party shares, as a sequential specification. It
// stops taking steps when ctx ends, as mutex does.
func parties(ctx context.Context, sections []section) porcupine.Model {
	of := make([]party, len(sections))
	for i := range sections {
		of[i] = partyOf(sections[i].hold)
	}
	return porcupine.Model{
		Init: func() any { return holders{} },
		Step: func(state, input, _ any) (bool, any) {
			h, s := state.(holders), input.(step)
			id := string(binary.BigEndian.AppendUint64(nil, uint64(s.section)))
			at, held := 0, false
			for ; at < len(h.sections); at += len(id) {
				if other := h.sections[at : at+len(id)]; other >= id {
					held = other == id
					break
				}
			}
			switch {
			case ctx.Err() != nil:
				return false, state
			case s.end && held && len(h.sections) == len(id):
				return true, holders{}
			case s.end:
				return held, holders{h.party, h.sections[:at] + h.sections[min(at+len(id), len(h.sections)):]}
			default:
				free := h.sections == "" || h.party == of[s.section]
				return free, holders{of[s.section], h.sections[:at] + id + h.sections[at:]}
			}
		},
	}
}
