package explore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/locks"
)

// Drawn is what schedules came to that were drawn.
type Drawn struct {
	N    int `json:"n"`    // how many were played
	Once int `json:"once"` // how many came to what no other of them came to: properties broken in a program under a kind of deviations
}

// sampled is a schedule that was drawn.
type sampled struct {
	of  *search
	ds  []Deviation
	out Outcome
}

// sample draws schedules of two deviations and plays them, and of each a schedule of three: with something that happens after the
// second, at what was seen to be sent then.
func (e *explorer) sample(ctx context.Context, searches []*search) {
	searches = slices.DeleteFunc(searches, func(s *search) bool { return s == nil || len(s.space.first) == 0 })
	samples := share(e.Samples, e.Shard, e.Shards) - e.found.Drawn.N
	if samples <= 0 || len(searches) == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(e.Seed, uint64(e.Shard)<<32+uint64(e.found.Drawn.N)))
	seen := map[string]int{}
	for left := samples; left > 0 && ctx.Err() == nil; {
		pairs := e.pairs(ctx, rng, searches, min(left, atOnce))
		left -= e.drawn(ctx, pairs, seen)
		var triples []sampled
		for _, s := range pairs {
			if len(triples) < left && len(s.ds) == 2 {
				triples = s.further(rng, e.lock, triples)
			}
		}
		left -= e.drawn(ctx, triples, seen)
	}
	for _, n := range seen {
		if n == 1 {
			e.found.Drawn.Once++
		}
	}
}

// pairs draws n schedules of two deviations, or of one if nothing can come after it.
func (e *explorer) pairs(ctx context.Context, rng *rand.Rand, searches []*search, n int) []sampled {
	all := make([]sampled, n)
	for i := range all {
		of := searches[rng.IntN(len(searches))]
		all[i] = sampled{of: of, ds: []Deviation{of.pick(rng, of.space.first)}}
		of.wants(all[i].ds[0])
	}
	for _, of := range searches {
		of.meet(ctx, e)
	}
	for i, one := range all {
		if next := one.of.after(one.ds[0], e.lock); len(next) > 0 {
			all[i].ds = append(all[i].ds, one.of.pick(rng, next))
		}
	}
	return all
}

// further adds a schedule in which something happens after the last deviation, if something can.
func (s sampled) further(rng *rand.Rand, lock locks.Spec, to []sampled) []sampled {
	next := s.of.program.after(s.ds[len(s.ds)-1], s.out.Points, lock)
	next = slices.DeleteFunc(next, func(d Deviation) bool { return !follow(s.ds[0], d) })
	if len(next) == 0 {
		return to
	}
	return append(to, sampled{of: s.of, ds: append(slices.Clone(s.ds), s.of.pick(rng, next))})
}

// drawn plays what was drawn, and looks at it. n is how much that was.
func (e *explorer) drawn(ctx context.Context, all []sampled, seen map[string]int) (n int) {
	e.each(ctx, len(all), func(i int) { all[i].out, _ = e.run(ctx, all[i].of.program.with(all[i].ds...), e.lock) })
	for _, s := range all {
		if ctx.Err() != nil {
			break
		}
		e.look(ctx, s.of.program, 0, s.ds, s.out, true)
		n++
		e.found.Drawn.N++
		seen[fmt.Sprint(s.of.program.Name, s.of.program.kind(s.ds), s.out.Fail)]++
	}
	return n
}

// share is how many of all schedules that are drawn one of so many shards draws, from 0 on: together they draw all.
func share(all, shard, shards int) int {
	n := max(shards, 1)
	return all*(shard+1)/n - all*shard/n
}

// wants notes that it must be known what is sent after a deviation.
func (s *search) wants(d Deviation) {
	if rank, _ := s.space.Rank([]Deviation{d}); s.first[rank-1] == nil && !slices.Contains(s.wanted, rank) {
		s.wanted = append(s.wanted, rank)
	}
}

// meet plays the program with what is wanted.
func (s *search) meet(ctx context.Context, e *explorer) {
	e.each(ctx, len(s.wanted), func(i int) {
		out, _ := e.run(ctx, s.program.with(s.space.At(s.wanted[i])...), e.lock)
		s.first[s.wanted[i]-1] = append([]Point{}, out.Points...)
	})
	s.wanted = nil
}

// after are the deviations that can come after one that was met; none if it ended what is to be met.
func (s *search) after(d Deviation, lock locks.Spec) []Deviation {
	rank, _ := s.space.Rank([]Deviation{d})
	return s.program.after(d, s.first[rank-1], lock)
}

// pick picks one of some deviations. Each class of commands is as likely as any other, however often its commands are sent: what a
// client does, the name of the command, and the side that is met.
func (s *search) pick(rng *rand.Rand, all []Deviation) Deviation {
	classes := map[string][]Deviation{}
	for _, d := range all {
		class := strings.Join([]string{s.program.during(d.Client, d.Call), d.Server, d.What, fmt.Sprint(d.Reply)}, " ")
		classes[class] = append(classes[class], d)
	}
	names := slices.Sorted(maps.Keys(classes))
	of := classes[names[rng.IntN(len(names))]]
	return of[rng.IntN(len(of))]
}
