package explore_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
)

// record is that of a whole search, with a finding.
func record() explore.Record {
	r := explore.Record{
		Schema: explore.Schema, Explored: "setnx-px-del", Version: "test", Guard: "none", Depth: 1, Samples: 5, Shard: 1, Shards: 1,
		Programs: []string{"once", "relay"}, Done: []string{"once"}, Schedules: 50, Points: explore.Points{Sent: 9, Polls: 1}, Runs: 50, Drawn: explore.Drawn{N: 5, Once: 1},
		Weaknesses: []explore.Weakness{{Property: checker.Ownership, Kind: "flush", SharedBy: "setnx-px-lua"}},
		Tried:      []explore.Tried{{Column: "delay", Played: 9, Judged: []explore.Tally{{Property: checker.Ownership, Held: 7, Broken: 2, Counted: 1}}}},
		Findings: []explore.Kept{{
			Program: "once", Rank: 3, Broken: []checker.Property{checker.Ownership}, Seen: 1,
			Deviations: []explore.KeptDeviation{{Client: "A", Call: 1, Server: "1", Command: "SET", Nth: 1, Act: "delay 1.3T"}},
		}},
	}
	return r
}

func encoded(t testing.TB, r explore.Record) []byte {
	t.Helper()
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamagedRecord: what an exploration cannot have written is refused, with what is wrong.
func TestDamagedRecord(t *testing.T) {
	good := encoded(t, record())
	if _, err := explore.ReadRecord(good); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		damage func(*explore.Record)
		want   string
	}{
		"version":         {func(r *explore.Record) { r.Schema = 1 }, "its schema is 1, want 2"},
		"no lock":         {func(r *explore.Record) { r.Explored = "" }, "want the lock that was explored"},
		"shard":           {func(r *explore.Record) { r.Shard = 2 }, "shard 2/1"},
		"done unmeant":    {func(r *explore.Record) { r.Done = []string{"once", "twice"} }, `program "twice" was explored whole`},
		"done twice":      {func(r *explore.Record) { r.Done = []string{"once", "once"} }, `program "once" was explored whole`},
		"meant twice":     {func(r *explore.Record) { r.Programs = []string{"once", "once"} }, `program "once" twice`},
		"negative":        {func(r *explore.Record) { r.Runs = -1 }, "its runs are -1"},
		"huge":            {func(r *explore.Record) { r.Samples = 1 << 62 }, "its samples are"},
		"huge schedules":  {func(r *explore.Record) { r.Schedules = 1 << 63 }, "its schedules are"},
		"drawn":           {func(r *explore.Record) { r.Drawn = explore.Drawn{N: 6} }, "6 of 5 schedules that were drawn"},
		"points":          {func(r *explore.Record) { r.Points.Polls = 10 }, "its points are -1"},
		"weakness":        {func(r *explore.Record) { r.Weaknesses[0].Property = "luck" }, `a property "luck" that there is not`},
		"tried luck":      {func(r *explore.Record) { r.Tried[0].Column = "luck" }, `"luck": there is no such kind of deviation`},
		"tried twice":     {func(r *explore.Record) { r.Tried = append(r.Tried, r.Tried[0]) }, `it says twice what was tried of "delay"`},
		"tried never":     {func(r *explore.Record) { r.Tried[0].Played = 0 }, "it was played 0 times"},
		"tried property":  {func(r *explore.Record) { r.Tried[0].Judged[0].Property = "luck" }, `a property "luck" that there is not`},
		"tried too much":  {func(r *explore.Record) { r.Tried[0].Judged[0].Held = 8 }, "ownership held in 8 and was broken in 2, of which 1 count"},
		"nothing broken":  {func(r *explore.Record) { r.Findings[0].Broken = nil }, "finding 1: it breaks nothing"},
		"broken luck":     {func(r *explore.Record) { r.Findings[0].Broken = []checker.Property{"luck"} }, `a property "luck" that there is not`},
		"seen too little": {func(r *explore.Record) { r.Findings[0].Seen = -1 }, "it was seen -1 times"},
		"no command":      {func(r *explore.Record) { r.Findings[0].Deviations[0].Nth = 0 }, "is at no command"},
		"many": {func(r *explore.Record) {
			d := r.Findings[0].Deviations[0]
			r.Findings[0].Deviations = []explore.KeptDeviation{d, d, d, d}
		}, "it has 4 deviations"},
	} {
		r := record()
		c.damage(&r)
		if _, err := explore.ReadRecord(encoded(t, r)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for text, want := range map[string]string{
		string(good[:len(good)/2]): "line ", string(good) + "{}": "line ", "": "line 1",
		strings.Replace(string(good), `"runs": 50`, `"runs": NaN`, 1):   "line ",
		strings.Replace(string(good), `"runs": 50`, `"runs": 1e400`, 1): "runs",
		strings.Replace(string(good), `"depth": 1`, `"depth": "1"`, 1):  "line 6: ",
	} {
		if _, err := explore.ReadRecord([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// FuzzReadRecord: whatever a file holds, it is refused, or can be resumed and merged without harm, and is what it was when it is read again.
func FuzzReadRecord(f *testing.F) {
	good := record()
	f.Add(encoded(f, good))
	good.Findings, good.Done, good.Shards = nil, good.Programs, 2
	f.Add(encoded(f, good))
	f.Add([]byte(`{"schema":2,"explored":"x","shards":1,"shard":1,"programs":["once"],"findings":[{"broken":[]}]}`))
	lock, err := libraries.Catalogue().Find("setnx-px-del")
	if err != nil {
		f.Fatal(err)
	}
	programs, err := explore.Programs(lock, resource.None)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := explore.ReadRecord(data)
		if err != nil {
			return
		}
		if len(r.Done) > len(r.Programs) {
			t.Errorf("%d of %d programs are done", len(r.Done), len(r.Programs))
		}
		if again, err := explore.ReadRecord(encoded(t, r)); err != nil || string(encoded(t, again)) != string(encoded(t, r)) {
			t.Errorf("what was read cannot be written and read: %v", err)
		}
		merged, err := explore.Merge([]explore.Record{r}, programs)
		if err != nil {
			return
		}
		if merged.Shards != 1 || merged.Runs != r.Runs || len(merged.Findings) > len(r.Findings) {
			t.Errorf("merged %+v, of %+v", merged, r)
		}
		found, err := merged.FindingsOf(programs)
		if err != nil {
			t.Errorf("what was merged names what there is not: %v", err)
		}
		for _, place := range explore.Places(found) {
			_ = place.Title()
		}
	})
}
