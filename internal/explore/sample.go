package explore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Drawn is what schedules came to that were drawn.
type Drawn struct {
	N    int `json:"n"`    // how many were played
	Once int `json:"once"` // how many came to what no other of them came to: properties broken in a program under a kind of deviations
}

// sample draws schedules of two deviations and plays them.
func (e *explorer) sample(ctx context.Context, searches []*search) {
	searches = slices.DeleteFunc(searches, func(s *search) bool { return s == nil || len(s.space.first) == 0 })
	samples := share(e.Samples, e.Shard, e.Shards) - e.found.Drawn.N
	if samples <= 0 || len(searches) == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(e.Seed, uint64(e.Shard)<<32+uint64(e.found.Drawn.N)))
	seen := map[string]int{}
	for left := samples; left > 0 && ctx.Err() == nil; left -= min(left, atOnce) {
		type sampled struct {
			of *search
			ds []Deviation
		}
		all := make([]sampled, min(left, atOnce))
		for i := range all {
			of := searches[rng.IntN(len(searches))]
			all[i] = sampled{of, []Deviation{of.pick(rng, of.space.first)}}
		}
		for _, one := range all {
			one.of.wants(one.ds[0])
		}
		for _, of := range searches {
			of.meet(ctx, e)
		}
		for i, one := range all {
			if next := one.of.after(one.ds[0], e.lock.Masters); len(next) > 0 {
				all[i].ds = append(one.ds, one.of.pick(rng, next))
			}
		}
		outcomes := make([]Outcome, len(all))
		e.each(ctx, len(all), func(i int) { outcomes[i], _ = e.run(ctx, all[i].of.program.with(all[i].ds...), e.lock) })
		for i, o := range outcomes {
			if ctx.Err() != nil {
				break
			}
			e.look(ctx, all[i].of.program, 0, all[i].ds, o.Fails)
			e.found.Drawn.N++
			seen[fmt.Sprint(all[i].of.program.Name, all[i].of.program.kind(all[i].ds), o.Fail)]++
		}
	}
	for _, n := range seen {
		if n == 1 {
			e.found.Drawn.Once++
		}
	}
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
func (s *search) after(d Deviation, masters int) []Deviation {
	rank, _ := s.space.Rank([]Deviation{d})
	return s.program.after(d, s.first[rank-1], masters)
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
