package explore

import (
	"context"
)

// search is the exploration of one program.
type search struct {
	program Program
	fair    Outcome
	space   *Space
	first   [][]Point // of the runs with one deviation; nil: it was not played
	wanted  []uint64  // ranks of one deviation that are to be played before two are drawn
}

// fairWeather plays a program without deviations.
func (e *explorer) fairWeather(ctx context.Context, p Program) *search {
	fair, err := e.run(ctx, p, e.lock)
	if err != nil {
		return nil // it is among what was given up, or the lock cannot play it
	}
	if ctx.Err() == nil {
		e.look(ctx, p, 0, nil, fair, e.mine(0))
	}
	s := &search{program: p, fair: fair, space: NewSpace(p, nil, e.lock)}
	if p.laned() {
		s.space = NewSpace(p, fair.Points, e.lock)
	}
	s.first = make([][]Point, len(s.space.first))
	return s
}

// one plays all schedules of one deviation.
func (e *explorer) one(ctx context.Context, s *search) {
	outcomes := make([]Outcome, len(s.space.first))
	e.each(ctx, len(outcomes), func(i int) {
		if e.Depth < 2 && !e.mine(uint64(i)+1) {
			return // nobody asks for its commands
		}
		outcomes[i], _ = e.run(ctx, s.program.with(s.space.first[i]), e.lock)
	})
	for i, o := range outcomes {
		s.first[i] = o.Points
		rank := uint64(i) + 1
		mine := e.mine(rank)
		if ctx.Err() != nil || e.Depth < 2 && !mine {
			continue // it was not played
		}
		if mine {
			e.idle(s, s.space.At(rank), o)
		}
		e.look(ctx, s.program, rank, s.space.At(rank), o, mine)
	}
}

// atOnce is how many schedules are played before it is looked at what they broke.
const atOnce = 1 << 10

// two plays all schedules of two deviations, once those of one were played.
func (e *explorer) two(ctx context.Context, s *search) {
	rank := s.space.Len()
	for s.space.Deepen(func(i int) []Point { return s.first[i] }); rank < s.space.Len() && ctx.Err() == nil; {
		var ranks []uint64
		for ; rank < s.space.Len() && len(ranks) < atOnce; rank++ {
			if e.mine(rank) {
				ranks = append(ranks, rank)
			}
		}
		outcomes := make([]Outcome, len(ranks))
		e.each(ctx, len(ranks), func(i int) {
			outcomes[i], _ = e.run(ctx, s.program.with(s.space.At(ranks[i])...), e.lock)
		})
		for i, o := range outcomes {
			if ctx.Err() == nil {
				e.look(ctx, s.program, ranks[i], s.space.At(ranks[i]), o, true)
			}
		}
	}
}

// mine reports whether the schedule of a rank is of this shard.
func (e *explorer) mine(rank uint64) bool {
	return e.Shards < 2 || rank%uint64(e.Shards) == uint64(e.Shard)
}
