package gate_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// runsOf are the runs of a plan, as its results list them, without playing them.
func runsOf(t testing.TB, opt gate.Options) []string {
	t.Helper()
	opt.Run = pretend(nil)
	var all []string
	for _, r := range play(t, opt).Rows {
		all = append(all, fmt.Sprintf("%d %s %s %s %s %d", r.At, r.Scenario, r.Lock, r.Guard, r.Remedy, r.Seed))
	}
	return all
}

func TestSelection(t *testing.T) {
	for _, tc := range []struct {
		only []string
		want string // a pattern of the scenarios
		err  string
	}{
		{[]string{"P07"}, "P07", ""},
		{[]string{"p07"}, "P07", ""},
		{[]string{"get-del-race", "P02"}, "P02 P08", ""},
		{[]string{"P0?"}, `P0\d( P0\d)+`, ""},
		{[]string{"get-*-race", "P08"}, "P08", ""},
		{[]string{"P17-P20", "p1-p2"}, "P01 P02 P17 P18 P19 P20", ""},
		{[]string{"P998-P999"}, "", `no scenario matches "P998-P999"`},
		{[]string{"P999"}, "", `no scenario "P999"`},
		{[]string{"delete-without-chek"}, "", "did you mean delete-without-check?"},
		{[]string{"P07", "nothing-*"}, "", `no scenario matches "nothing-*"`},
		{[]string{"["}, "", "is no pattern"},
	} {
		var ids []string
		plan, err := gate.NewPlan(gate.Options{Only: tc.only, Run: pretend(nil)})
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%v: %v, want %q", tc.only, err, tc.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		res, err := plan.Play(t.Context(), 1, gate.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Rows {
			if !slices.Contains(ids, r.ID) {
				ids = append(ids, r.ID)
			}
		}
		if got := strings.Join(ids, " "); !regexp.MustCompile("^" + tc.want + "$").MatchString(got) {
			t.Errorf("%v: %s, want %s", tc.only, got, tc.want)
		}
	}
}

// TestShards checks that shards part the plan, evenly and always the same way.
func TestShards(t *testing.T) {
	whole := runsOf(t, gate.Options{Runs: 3})
	for _, n := range []int{1, 2, 3, 7} {
		var all []string
		least, most := len(whole), 0
		for i := range n {
			opt := gate.Options{Runs: 3, Shard: gate.Shard{Index: i + 1, Of: n}}
			part := runsOf(t, opt)
			if again := runsOf(t, opt); !slices.Equal(part, again) {
				t.Fatalf("shard %v differs from itself", opt.Shard)
			}
			all = append(all, part...)
			least, most = min(least, len(part)), max(most, len(part))
		}
		slices.SortFunc(all, func(a, b string) int { return slices.Index(whole, a) - slices.Index(whole, b) })
		if !slices.Equal(all, whole) {
			t.Errorf("%d shards are not the plan: %d runs, want %d", n, len(all), len(whole))
		}
		// By cost they are as even as can be; a run on six servers costs thrice one on one.
		if most > 3*least+3 {
			t.Errorf("%d shards have %d to %d runs", n, least, most)
		}
	}
}

func TestParseShard(t *testing.T) {
	if s, err := gate.ParseShard("2/5"); err != nil || s != (gate.Shard{Index: 2, Of: 5}) {
		t.Errorf("2/5: %v, %v", s, err)
	}
	for _, bad := range []string{"", "2", "0/5", "6/5", "-1/5", "2/0", "a/b", "2/5/7", "1/99999999", " 1/2"} {
		if s, err := gate.ParseShard(bad); err == nil {
			t.Errorf("%q is %v, want an error", bad, s)
		}
	}
}

// TestGaps checks that what a backend cannot play is listed with the reason, and never played.
func TestGaps(t *testing.T) {
	catalogue := scenarios.All()[:2]
	catalogue[0].Gaps = map[string]string{histories.BackendEmbedded: "it has no time machine"}
	plan, err := gate.NewPlan(gate.Options{Catalogue: catalogue, Run: pretend(nil)})
	if err != nil {
		t.Fatal(err)
	}
	gaps := plan.Gaps()
	if len(gaps) != 1 || gaps[0].Scenario != catalogue[0].Name || gaps[0].Reason != "it has no time machine" {
		t.Errorf("gaps: %+v", gaps)
	}
	res, err := plan.Play(t.Context(), 1, gate.Watch{})
	if err != nil || slices.ContainsFunc(res.Rows, func(r gate.Row) bool { return r.Scenario == catalogue[0].Name }) {
		t.Errorf("%v, %+v", err, res.Rows)
	}
	if got := text(t, res); !strings.Contains(got, "gap") || !strings.Contains(got, "it has no time machine") || !strings.Contains(got, "1 of 1 scenario as expected · 1 that this backend cannot play") {
		t.Error(got)
	}
}

// TestSubject checks what a user's lock is put through, and what is wanted of it.
func TestSubject(t *testing.T) {
	lock, err := libraries.Catalogue().Find("setnx-px-del")
	if err != nil {
		t.Fatal(err)
	}
	res := play(t, gate.Options{Subject: &gate.Subject{Lock: lock}, Only: []string{"P02", "P07", "P11", "P45"}})
	want := map[string]gate.Outcome{
		"P02": gate.Expected,
		"P07": gate.Unexpected,  // the catalogue expects so; its user does not
		"P11": gate.Unavoidable, // no lock of its class does better
	}
	for _, r := range res.Rows {
		if r.Role != gate.Own || r.Lock != lock.Name || r.Outcome != want[r.ID] {
			t.Errorf("%s: %s %s is %s, want %s", r.ID, r.Role, r.Lock, r.Outcome, want[r.ID])
		}
	}
	if len(res.Rows) != 3 || len(res.Gaps) != 1 || !res.Gaps[0].NotApplicable || !strings.Contains(res.Gaps[0].Reason, "readers and writers") {
		t.Errorf("%d rows, gaps %+v", len(res.Rows), res.Gaps)
	}
	fence := resource.Fence
	res = play(t, gate.Options{Subject: &gate.Subject{Lock: lock, Guard: &fence}, Only: []string{"P02"}, Run: pretend(nil)})
	if len(res.Rows) != 0 || len(res.Gaps) != 1 || !strings.Contains(res.Gaps[0].Reason, "fencing tokens") {
		t.Errorf("guard fence: %+v %+v", res.Rows, res.Gaps)
	}
	if out := res.Outcome(gate.Baseline{}); out != gate.NotApplicable {
		t.Errorf("of a gate without runs the outcome is %v", out)
	}
}

// TestOtherDatabases checks that a lock in a database that a Redis Cluster has not is not played on
// one, as its user says.
func TestOtherDatabases(t *testing.T) {
	lock, err := libraries.Catalogue().Find("rw-hash")
	if err != nil {
		t.Fatal(err)
	}
	for database, want := range map[int]string{0: "", 3: "the lock is kept in database 3"} {
		lock.Database = database
		res := play(t, gate.Options{Subject: &gate.Subject{Lock: lock}, Only: []string{"P41"}, Run: pretend(nil)})
		if want == "" && len(res.Rows) != 1 || want != "" && (len(res.Gaps) != 1 || !res.Gaps[0].NotApplicable || !strings.Contains(res.Gaps[0].Reason, want)) {
			t.Errorf("database %d: %d rows, gaps %+v; want %q", database, len(res.Rows), res.Gaps, want)
		}
	}
}

// TestUnknownNames checks that a catalogue which names a lock that there is not fails at once.
func TestUnknownNames(t *testing.T) {
	_, err := gate.NewPlan(gate.Options{Locks: locks.Catalogue{}})
	if unknown, ok := errors.AsType[*catalogue.UnknownError](err); !ok || unknown.Kind != "lock" {
		t.Errorf("got %v", err)
	}
}
