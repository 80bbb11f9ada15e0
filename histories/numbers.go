package histories

import (
	"cmp"
	"slices"
)

// numbers is a set of numbers. Those that count up, as attempts do, take no more room than the gaps
// between them. The zero set is empty.
type numbers struct{ runs []run } // in order, apart from each other

type run struct{ from, to uint64 } // both belong to it

// place is the first of the runs that ends at n or later.
func (s *numbers) place(n uint64) int {
	i, _ := slices.BinarySearchFunc(s.runs, n, func(r run, n uint64) int { return cmp.Compare(r.to, n) })
	return i
}

func (s *numbers) has(n uint64) bool {
	i := s.place(n)
	return i < len(s.runs) && s.runs[i].from <= n
}

func (s *numbers) add(n uint64) {
	i := s.place(n)
	if i < len(s.runs) && s.runs[i].from <= n {
		return
	}
	behind := i > 0 && s.runs[i-1].to+1 == n
	before := i < len(s.runs) && n+1 == s.runs[i].from
	switch {
	case behind && before:
		s.runs[i-1].to = s.runs[i].to
		s.runs = slices.Delete(s.runs, i, i+1)
	case behind:
		s.runs[i-1].to = n
	case before:
		s.runs[i].from = n
	default:
		s.runs = slices.Insert(s.runs, i, run{n, n})
	}
}
