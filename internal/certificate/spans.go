package certificate

import (
	"cmp"
	"math"
	"slices"
)

// A rank is a place in the order of a history: event i has the rank 2i+1, and 2i is the gap before it,
// in which a time is reached that no event before it has.
type rank int64

const (
	never   rank = math.MaxInt64
	pending      = math.MaxInt // the event of an answer that there is none of
)

func at(event int) rank {
	if event == pending {
		return never
	}
	return rank(2*event + 1)
}

// A span is a stretch of ranks.
type span struct{ from, to rank }

func (s span) meets(o span) bool { return s.from < o.to && s.to > o.from }

func between(from, to int) span { return span{at(from), at(to)} }

// A cover answers whether any of many spans meets another. They are in order of starts, and each ends
// where the last of those up to it does.
type cover []span

func newCover(spans []span) cover {
	c := slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(c); i++ {
		c[i].to = max(c[i].to, c[i-1].to)
	}
	return c
}

// latest is where the last of the spans ends that meet s; 0 if none does.
func (c cover) latest(s span) rank {
	begun, _ := slices.BinarySearchFunc(c, s.to, func(f span, to rank) int { return cmp.Compare(f.from, to) })
	if begun == 0 || c[begun-1].to <= s.from {
		return 0
	}
	return c[begun-1].to
}

func (c cover) meets(s span) bool { return c.latest(s) > 0 }

// spans are in order of starts, and answer which of them meet another.
type spans struct {
	all     []span
	reaches []rank // where the last of those so far ends
}

func newSpans(n int, of func(int) span) (s spans) {
	reach := rank(0)
	for i := range n {
		x := of(i)
		reach = max(reach, x.to)
		s.all, s.reaches = append(s.all, x), append(s.reaches, reach)
	}
	return s
}

// meeting yields the places of those that meet another.
func (s spans) meeting(o span) func(func(int) bool) {
	return func(yield func(int) bool) {
		i, _ := slices.BinarySearchFunc(s.all, o.to, func(x span, to rank) int { return cmp.Compare(x.from, to) })
		for i--; i >= 0 && s.reaches[i] > o.from; i-- {
			if s.all[i].meets(o) && !yield(i) {
				return
			}
		}
	}
}

// leaders are the greatest of some values, and the greatest of those that are of another kind than that.
type leaders[K comparable, V any] struct {
	first, other V
	size, rest   int64
	kind         K
	n            int // of both
}

func (l leaders[K, V]) with(kind K, v V, size int64) leaders[K, V] {
	switch {
	case l.n > 0 && kind != l.kind && size > l.size:
		return leaders[K, V]{v, l.first, size, l.size, kind, 2}
	case l.n > 0 && kind != l.kind && (l.n == 1 || size > l.rest):
		l.other, l.rest, l.n = v, size, 2
	case l.n == 0 || kind == l.kind && size > l.size:
		l.first, l.size, l.kind, l.n = v, size, kind, max(l.n, 1)
	}
	return l
}

// but is the greatest that is not of a kind, or else the zero value.
func (l leaders[K, V]) but(kind K) V {
	if l.n > 0 && kind == l.kind {
		return l.other
	}
	return l.first
}
