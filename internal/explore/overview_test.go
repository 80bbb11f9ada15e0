package explore_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// programsOf are those that a lock can play.
func programsOf(t *testing.T, lock string) []explore.Program {
	t.Helper()
	all, err := explore.Programs(find(t, lock), resource.None)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// cell is that of a property in a column.
func cell(t *testing.T, o explore.Overview, p checker.Property, column string) explore.Cell {
	t.Helper()
	row, at := slices.IndexFunc(o.Rows, func(r explore.Row) bool { return r.Property == p }), slices.Index(o.Columns, column)
	if row < 0 || at < 0 {
		t.Fatalf("the overview has no %s under %s", p, column)
	}
	return o.Rows[row].Cells[at]
}

// TestOverviewStates: clean is what was put to the test and always held, and nothing else.
func TestOverviewStates(t *testing.T) {
	tally := func(p checker.Property, held, broken, counted int) explore.Tally {
		return explore.Tally{Property: p, Held: held, Broken: broken, Counted: counted}
	}
	pause := explore.KeptDeviation{Client: "A", Call: 1, Server: "1", Command: "SET", Nth: 1, Act: "pause"}
	r := explore.Record{
		Tried: []explore.Tried{
			{Column: "pause", Played: 9, Judged: []explore.Tally{
				tally(checker.Ownership, 5, 4, 4), tally(checker.StrictExclusion, 5, 4, 0), tally(checker.Availability, 9, 0, 0), tally(checker.LeaseExclusion, 5, 4, 4),
			}},
			{Column: "restart", Played: 9, Judged: []explore.Tally{
				tally(checker.LeaseExclusion, 5, 4, 4), tally(checker.ResourceSafety, 5, 4, 4), tally(checker.TruthfulReplies, 5, 4, 4), tally(checker.Ownership, 5, 4, 4),
			}},
			{Column: "lose", Played: 0, Judged: []explore.Tally{tally(checker.Ownership, 1, 0, 0)}},
		},
		Weaknesses: []explore.Weakness{{Property: checker.LeaseExclusion, Kind: "restart", Column: "restart", SharedBy: "setnx-px-watch"}},
		Findings: []explore.Kept{
			{Deviations: []explore.KeptDeviation{pause}, Column: "pause", Broken: []checker.Property{checker.Ownership}},
			{Column: explore.Alone, Broken: []checker.Property{checker.TruthfulReplies}},
		},
	}
	o := r.Overview()
	if !slices.Equal(o.Columns, []string{"pause", "restart"}) || !slices.Contains(o.NotTried, "lose") || !slices.Contains(o.NotTried, explore.Several) {
		t.Errorf("tried are %v, and not tried %v", o.Columns, o.NotTried)
	}
	for _, c := range []struct {
		property checker.Property
		column   string
		want     explore.State
	}{
		{checker.Ownership, "pause", explore.Broken},
		{checker.Ownership, "restart", explore.Unmeasured}, // the finding is about another kind
		{checker.StrictExclusion, "pause", explore.Class},  // no lock with leases keeps it
		{checker.StrictExclusion, "restart", explore.Untested},
		{checker.Availability, "pause", explore.Clean},
		{checker.Availability, "restart", explore.Untested},
		{checker.LeaseExclusion, "pause", explore.Unmeasured}, // the weakness is about another kind
		{checker.LeaseExclusion, "restart", explore.Class},
		{checker.ResourceSafety, "restart", explore.Class},   // it follows from one
		{checker.TruthfulReplies, "restart", explore.Broken}, // it is broken without that, too
	} {
		if got := cell(t, o, c.property, c.column).State; got != c.want {
			t.Errorf("%s under %s is %q, want %q", c.property, c.column, got, c.want)
		}
	}
}

// TestOverviewOfParts: the overview of a search is that of its parts together, and counts each schedule once.
func TestOverviewOfParts(t *testing.T) {
	effort.Long(t)
	lock, programs := find(t, "setnx-px-del"), programsOf(t, "setnx-px-del")
	record := func(shard, shards int) explore.Record {
		opt := explore.Options{
			Play: inProcess(), Depth: 1, Programs: []string{"released-twice", "once"}, Among: libraries.Catalogue(), Jobs: 2, Shard: shard, Shards: shards,
		}
		found, err := explore.Explore(t.Context(), lock, opt)
		if err != nil {
			t.Fatal(err)
		}
		return opt.Record(lock, found, "test")
	}
	whole := record(0, 1)
	played := 0
	for _, tried := range whole.Tried {
		played += tried.Played
	}
	if played+whole.Missed != whole.Runs || played == 0 {
		t.Errorf("%d schedules are in columns, want all of %d runs but the %d that missed something", played, whole.Runs, whole.Missed)
	}
	merged, err := explore.Merge([]explore.Record{record(0, 2), record(1, 2)}, programs)
	if err != nil {
		t.Fatal(err)
	}
	want, got := whole.Overview(), merged.Overview()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the overview of two parts is not that of the whole (-whole +parts):\n%s", diff)
	}
	if c := cell(t, want, checker.Ownership, "delay"); c.State != explore.Broken || c.Broken == 0 {
		t.Errorf("ownership under delay is %v, want broken", c)
	}
	if c := cell(t, want, checker.DeadlockFreedom, "delay"); c.State != explore.Clean || c.Held == 0 {
		t.Errorf("deadlock freedom under delay is %v, want clean", c)
	}
}
