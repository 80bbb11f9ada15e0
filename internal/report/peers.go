package report

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/language"
)

// Peers says of what a run broke which of it is the lock's own fault and which no lock of its
// class survives, a paragraph each. Of a run that was not measured by other locks it says nothing.
func Peers(r Run) []string {
	p := r.Judgement.Peers
	if p == nil {
		return nil
	}
	in := r.Language
	class := in.List(in.Each(strings.Split(prose(p.Class), ", ")))
	seeds := in.Sayf("seeds %d to %d", p.Seed, p.Seed+uint64(max(p.Seeds, 1))-1)
	var all []string
	for _, own := range p.Own {
		text := in.Sayf("Own fault: %s. ", in.Say(label(own.Property)))
		switch {
		case len(own.KeptBy) > 0:
			text += in.Sayf("Under the same load and faults it is kept by %s, with all of %s, in virtual time.", names(own.KeptBy, in), seeds)
		case len(p.References) > 0:
			text += in.Sayf("No other lock of its class (%s) was seen to break it under the same load and faults.", class)
		default:
			text += in.Sayf("No other lock of its class (%s) is known, so that it is asked for everything.", class)
		}
		all = append(all, text)
	}
	switch {
	case len(p.Unavoidable) > 0 && p.Alike:
		all = append(all, in.Sayf("Unavoidable: %s. Of the other locks of its class (%s) one at least breaks that when its clients do the same under the same faults: of %s, with some of %s, in virtual time. It decides nothing.",
			in.And(in.Each(Labels(p.Unavoidable))), class, names(p.References, in), seeds))
	case len(p.Unavoidable) > 0:
		all = append(all, in.Sayf("Unavoidable: %s. No other lock of its class (%s) keeps that under the same load and faults: %s broke it with some of %s, in virtual time. It decides nothing.",
			in.And(in.Each(Labels(p.Unavoidable))), class, names(p.References, in), seeds))
	}
	if len(p.Rare) > 0 {
		all = append(all, in.Sayf("Seen too seldom: %s. When its clients did the same with the next seeds, in virtual time, the lock nearly always kept that, so that other locks cannot show whose fault it is.",
			in.And(in.Each(Labels(p.Rare)))))
	}
	if len(p.Faulted) > 0 {
		all = append(all, in.Sayf("After a fault of a server: %s. A fault that takes keys away was in force, and no command or answer of the lock is known that explains it, so that nobody can tell whose fault it is.",
			in.And(in.Each(Labels(p.Faulted)))))
	}
	return all
}

// names joins names of locks.
func names(locks []string, in language.Language) string {
	var all []string
	for _, l := range locks {
		all = append(all, show(l))
	}
	return in.And(all)
}

// excused reports whether a property was broken that no lock of the class keeps.
func (r Run) excused(p checker.Property) bool {
	return r.Judgement.Peers != nil && slices.Contains(r.Judgement.Peers.Unavoidable, p)
}
