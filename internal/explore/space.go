package explore

import (
	"slices"

	"github.com/lockbench/lockbench/locks"
)

// Space are the schedules of a program with a lock, up to some number of deviations, in an order: that without one, those with one, and
// those with two by their first. A second deviation is at a command that is sent when the first has begun. Which those are is known
// once the program has been played with the first.
type Space struct {
	program Program
	lock    locks.Spec
	first   []Deviation
	second  [][]Deviation // by the first; nil: it was not played
	before  []uint64      // how many schedules of two come before those of each first
	total   uint64
}

// NewSpace returns that of a program whose commands without deviations are points, with a deviation at most.
func NewSpace(p Program, points []Point, lock locks.Spec) *Space {
	s := &Space{program: p, lock: lock}
	for _, at := range points {
		s.first = append(s.first, p.at(at, lock, "1")...)
	}
	s.second, s.before = make([][]Deviation, len(s.first)), make([]uint64, len(s.first))
	s.total = 1 + uint64(len(s.first))
	return s
}

// Deepen adds the schedules of two deviations. points are the commands of the runs with each first deviation.
func (s *Space) Deepen(points func(i int) []Point) {
	for i, d := range s.first {
		s.before[i] = s.total
		s.second[i] = s.program.after(d, points(i), s.lock)
		s.total += uint64(len(s.second[i]))
	}
}

// after are the deviations that can come after another one, whose run had these points.
func (p Program) after(d Deviation, points []Point, lock locks.Spec) (all []Deviation) {
	begun := slices.Index(points, d.Point)
	if begun < 0 {
		return nil // it was held up and never sent
	}
	sent := map[Point]int{}
	for _, at := range points[:begun+1] {
		sent[anyNth(at)] = max(sent[anyNth(at)], at.Nth)
	}
	for _, at := range points[begun+1:] {
		server := "1"
		if at.Server == another {
			server = another
		}
		for _, next := range p.at(at, lock, server) {
			if follow(d, next) {
				next.Since = sent[anyNth(at)]
				all = append(all, next)
			}
		}
	}
	return all
}

// anyNth is a point whichever of the commands of its name it is.
func anyNth(at Point) Point {
	at.Nth = 0
	return at
}

// follow reports whether one deviation can come after another. Two faults of a kind on one target are one, and who has crashed, or is cut
// off, is not hit again. Nor is who stood still in the same call: its end is waited for, and what would hold it up then would hold up all.
// A clock that runs wrong would be right again without a word if its server was restarted.
func follow(first, next Deviation) bool {
	same := first.Client == next.Client
	switch {
	case first.Act.breaks && same, first.Call == 0 && same:
		return false
	case first.Act.halts && same && first.Call == next.Call:
		return false
	case first.Act.action != "" && first.Act.action == next.Act.action && same:
		return false
	case first.Act.jumps != "" && first.Act.jumps == next.Act.jumps:
		return first.Act.jumps == clientClockFault && !same || first.Act.jumps == serverClockFault && first.Server != next.Server
	case first.Act.clocks && next.Act.restarts:
		return false
	case first.Act.replicas > 0 && next.Act.replicas > 0:
		return false
	}
	return true
}

// Len is how many schedules there are.
func (s *Space) Len() uint64 { return s.total }

// At returns the deviations of the schedule of a rank, which must be less than Len.
func (s *Space) At(rank uint64) []Deviation {
	if rank == 0 {
		return nil
	}
	if rank <= uint64(len(s.first)) {
		return []Deviation{s.first[rank-1]}
	}
	i, found := slices.BinarySearch(s.before, rank)
	if !found {
		i--
	}
	for len(s.second[i]) == 0 || rank >= s.before[i]+uint64(len(s.second[i])) {
		i++ // those before it have none
	}
	return []Deviation{s.first[i], s.second[i][rank-s.before[i]]}
}

// Rank is the rank of the schedule with these deviations. ok says that it is one of the space.
func (s *Space) Rank(ds []Deviation) (rank uint64, ok bool) {
	if len(ds) == 0 {
		return 0, true
	}
	i := slices.IndexFunc(s.first, ds[0].same)
	switch {
	case i < 0 || len(ds) > 2:
		return 0, false
	case len(ds) == 1:
		return 1 + uint64(i), true
	}
	j := slices.IndexFunc(s.second[i], ds[1].same)
	return s.before[i] + uint64(max(j, 0)), j >= 0
}

// same reports whether two deviations are the same.
func (d Deviation) same(other Deviation) bool {
	return d.Point == other.Point && d.Reply == other.Reply && d.Act.Name == other.Act.Name
}

// mostAlike is how many schedules of the same kinds are played to measure by. Of more, these are chosen, from all over.
const mostAlike = 500

// alike are sets of deviations at points that are of these kinds, as kindOf tells them, in whatever order they come: all, or mostAlike.
func (p Program) alike(points []Point, lock locks.Spec, kinds []string, kindOf func(Deviation) string) (chosen [][]Deviation) {
	first := NewSpace(p, points, lock).first
	var walk func(before, next []Deviation, left []string, each func(before []Deviation, last Deviation))
	walk = func(before, next []Deviation, left []string, each func([]Deviation, Deviation)) {
		for _, d := range next {
			i := slices.Index(left, kindOf(d))
			switch {
			case i < 0 || slices.ContainsFunc(before, func(b Deviation) bool { return !follow(b, d) }):
			case len(left) == 1:
				each(before, d)
			default:
				walk(append(slices.Clone(before), d), p.after(d, points, lock), slices.Delete(slices.Clone(left), i, i+1), each)
			}
		}
	}
	// There may be millions of them, so that they are counted before some are kept.
	n := 0
	walk(nil, first, kinds, func([]Deviation, Deviation) { n++ })
	most, at := min(n, mostAlike), 0
	walk(nil, first, kinds, func(before []Deviation, last Deviation) {
		if len(chosen) < most && at == len(chosen)*n/most {
			chosen = append(chosen, append(slices.Clone(before), last))
		}
		at++
	})
	return chosen
}
