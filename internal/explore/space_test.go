package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

func programOf(t *testing.T, lock locks.Spec, name string) explore.Program {
	t.Helper()
	all, err := explore.Programs(lock, resource.None)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p explore.Program) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("%s has no program %s", lock.Name, name)
	}
	return all[i]
}

// TestSpace: ranks and schedules belong to each other, and no schedule is there twice.
func TestSpace(t *testing.T) {
	lock := find(t, "setnx-px-get-del")
	p, backend := programOf(t, lock, "once"), harness.Embedded()
	fair, err := explore.Run(t.Context(), p, lock, backend)
	if err != nil {
		t.Fatal(err)
	}
	s := explore.NewSpace(p, fair.Points, lock)
	shallow := s.Len()
	s.Deepen(func(int) []explore.Point { return fair.Points })
	if s.Len() < 10*shallow {
		t.Errorf("there are %d schedules, and %d of one deviation at most; want many more", s.Len(), shallow)
	}
	seen := map[string]uint64{}
	for rank := range s.Len() {
		ds := s.At(rank)
		if again, ok := s.Rank(ds); !ok || again != rank {
			t.Fatalf("the schedule of rank %d has rank %d, %v: %v", rank, again, ok, ds)
		}
		name := fmt.Sprint(ds)
		for _, d := range ds {
			name += fmt.Sprint(d.Point, d.Reply)
		}
		if before, ok := seen[name]; ok {
			t.Fatalf("rank %d is that of rank %d: %s", rank, before, name)
		}
		seen[name] = rank
	}
	none := explore.Deviation{Point: explore.Point{Client: "Z"}}
	if rank, ok := s.Rank([]explore.Deviation{none}); ok {
		t.Errorf("a deviation that there is not has rank %d", rank)
	}
}

// TestShards: what shards have found is, merged, what one exploration finds.
func TestShards(t *testing.T) {
	effort.Long(t)
	lock := find(t, "setnx-px-get-del")
	opt := explore.Options{Play: inProcess(), Depth: 1, Programs: []string{"relay", "once", "released-twice"}, Among: libraries.Catalogue(), Jobs: 2}
	whole, err := explore.Explore(t.Context(), lock, opt)
	if err != nil {
		t.Fatal(err)
	}
	want := opt.Record(lock, whole, "test")
	var parts []explore.Record
	for opt.Shards, opt.Shard = 3, 2; opt.Shard >= 0; opt.Shard-- {
		found, err := explore.Explore(t.Context(), lock, opt)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, opt.Record(lock, found, "test"))
	}
	programs, err := explore.Programs(lock, resource.None)
	if err != nil {
		t.Fatal(err)
	}
	got, err := explore.Merge(parts, programs)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Findings) == 0 || fmt.Sprint(got.Findings) != fmt.Sprint(want.Findings) || got.Schedules != want.Schedules || got.Points != want.Points || !slices.Equal(got.Done, want.Done) {
		t.Errorf("merged %+v\nwhole %+v", got, want)
	}
	if _, err := explore.Merge(parts[:2], programs); err == nil {
		t.Error("two of three shards were merged")
	}
	if _, err := explore.Merge([]explore.Record{parts[0], parts[1], parts[1]}, programs); err == nil {
		t.Error("a shard was merged twice")
	}
}

// TestShardKnowsOthers: what breaks a lock in schedules of other shards, which this one plays too, is nothing new under more deviations, and
// is not counted.
func TestShardKnowsOthers(t *testing.T) {
	lock := find(t, "setnx-px-del")
	opt := explore.Options{Play: inProcess(), Programs: []string{"long-section"}, Among: libraries.Catalogue(), Jobs: 2, Shards: 2, Shard: 1}
	for opt.Depth = range 2 {
		found, err := explore.Explore(t.Context(), lock, opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Findings) != 1 || found.Findings[0].Rank != 0 || found.Findings[0].Seen > 0 != (opt.Depth > 0) {
			t.Errorf("depth %d: %+v, want one finding, without deviations", opt.Depth, found.Findings)
		}
		for _, tried := range found.Tried {
			if tried.Column == explore.Alone {
				t.Errorf("depth %d: %d schedules of another shard were counted", opt.Depth, tried.Played)
			}
		}
	}
}

// TestResume: an exploration that was interrupted goes on, and comes to what it would have come to.
func TestResume(t *testing.T) {
	effort.Long(t)
	lock := find(t, "setnx-px-get-del")
	opt := explore.Options{Play: inProcess(), Depth: 1, Programs: []string{"relay", "once", "released-twice"}, Among: libraries.Catalogue(), Jobs: 2}
	whole, err := explore.Explore(t.Context(), lock, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	opt.Done = func(_ string, runs int) {
		if runs > whole.Runs/2 {
			cancel()
		}
	}
	half, err := explore.Explore(ctx, lock, opt)
	if err != nil || len(half.Done) == 0 || len(half.Done) == len(half.Meant) {
		t.Fatalf("%d of %d programs were explored, want some: %v", len(half.Done), len(half.Meant), err)
	}
	record := opt.Record(lock, half, "test")
	opt.Done, opt.Resume = nil, &record
	rest, err := explore.Explore(t.Context(), lock, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, want := opt.Record(lock, rest, "test"), opt.Record(lock, whole, "test")
	if got.Schedules != want.Schedules || got.Points != want.Points || len(got.Done) != len(want.Done) || len(got.Findings) != len(want.Findings) || got.Findings[0].Rank != want.Findings[0].Rank {
		t.Errorf("resumed %+v\nwhole %+v", got, want)
	}
	opt.Depth = 0
	if _, err := explore.Explore(t.Context(), lock, opt); err == nil {
		t.Error("an exploration of another depth was resumed")
	}
}

// TestPlayedTwice: a run that comes out in two ways is told.
func TestPlayedTwice(t *testing.T) {
	lock := find(t, "setnx-px-lua")
	play := explore.InProcess()
	var runs uint64
	opt := explore.Options{Depth: 1, Programs: []string{"once"}, Among: libraries.Catalogue(), Play: func(ctx context.Context, p explore.Program, lock locks.Spec) (explore.Outcome, error) {
		out, err := play(ctx, p, lock)
		runs++
		out.Digest += runs
		return out, err
	}}
	found, err := explore.Explore(t.Context(), lock, opt)
	if err != nil || found.Twice == 0 || len(found.Differing) != found.Twice {
		t.Errorf("%d of %d schedules that were played twice differ, want all, and one at least: %v", len(found.Differing), found.Twice, err)
	}
	opt.Play = play
	if found, err = explore.Explore(t.Context(), lock, opt); err != nil || found.Twice == 0 || len(found.Differing) > 0 {
		t.Errorf("%v of %d schedules that were played twice differ, want none: %v", found.Differing, found.Twice, err)
	}
}

// TestFaultyReference: a reference that breaks everything excuses everything, and one that keeps everything excuses nothing. A search
// whose references are wrong is noticed by both.
func TestFaultyReference(t *testing.T) {
	effort.Long(t)
	lock := find(t, "setnx-px-get-del")
	play := explore.InProcess()
	with := func(of func(explore.Outcome) explore.Outcome) explore.Found {
		found, err := explore.Explore(t.Context(), lock, explore.Options{
			Depth: 1, Programs: []string{"relay"}, Among: libraries.Catalogue(), Jobs: 2,
			Play: func(ctx context.Context, p explore.Program, l locks.Spec) (explore.Outcome, error) {
				out, err := play(ctx, p, l)
				if l.Name != lock.Name {
					out = of(out)
				}
				return out, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	honest := with(func(o explore.Outcome) explore.Outcome { return o })
	kept := with(func(o explore.Outcome) explore.Outcome { o.Fails = nil; return o })
	if len(kept.Findings) <= len(honest.Findings) || len(kept.Weaknesses) > 0 {
		t.Errorf("by locks that break nothing it has %d findings and %d weaknesses, by honest ones %d findings", len(kept.Findings), len(kept.Weaknesses), len(honest.Findings))
	}
	broken := with(func(o explore.Outcome) explore.Outcome {
		for _, w := range kept.Findings {
			o.Fails = append(o.Fails, w.Broken...)
		}
		return o
	})
	if len(broken.Findings) > 0 || len(broken.Weaknesses) == 0 {
		t.Errorf("by locks that break everything it has findings %v, and %d weaknesses", broken.Findings, len(broken.Weaknesses))
	}
}

// TestDrawn: schedules of two deviations are drawn, the same ones by the same seed, and a sound lock is not accused.
func TestDrawn(t *testing.T) {
	effort.Long(t)
	lock := find(t, "set-options")
	opt := explore.Options{Play: inProcess(), Samples: 300, Seed: 7, Programs: []string{"relay", "once"}, Among: libraries.Catalogue(), Jobs: 2}
	first, err := explore.Explore(t.Context(), lock, opt)
	if err != nil || first.Drawn.N != opt.Samples || first.Drawn.Once == 0 || len(first.Findings) > 0 {
		t.Fatalf("%+v, %v; want %d schedules, and no findings", first, err, opt.Samples)
	}
	if again, err := explore.Explore(t.Context(), lock, opt); err != nil || again.Drawn != first.Drawn || again.Missed != first.Missed {
		t.Errorf("the same seed came to %+v and %+v: %v", again.Drawn, first.Drawn, err)
	}
}
