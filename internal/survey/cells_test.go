package survey

import (
	"cmp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/anomalies"
)

// saw is a run of a pitfall that shows anomalies.
func saw(id, outcome string, codes ...string) row {
	r := row{ID: id, Outcome: outcome, Command: "lockbench run " + id}
	if outcome == unexpected || outcome == unavoidable {
		r.Judged = []finding{{Property: "ownership", Got: "fail", Unavoidable: outcome == unavoidable}, {Property: "availability", Got: "pass", Met: true}}
	}
	for _, code := range codes {
		r.Causes = append(r.Causes, cause{Explains: []string{"ownership"}, Anomaly: code, Sentence: "It ended at 1.036 s by a4d5…."})
	}
	return r
}

func TestCell(t *testing.T) {
	shown := Shown{"A01": {"P07", "P08"}, "A05": {"P02"}}
	for name, c := range map[string]struct {
		first, again []row
		declared     map[string]string
		want         Verdict
		because      string
	}{
		"twice":                 {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A01")}, nil, Shows, "P07"},
		"once":                  {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", expected)}, nil, Unclear, "P07"},
		"then another":          {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A05")}, nil, Unclear, "P07"},
		"twice at two":          {[]row{saw("P07", unexpected, "A01"), saw("P08", unexpected, "A01")}, []row{saw("P07", unexpected, "A01"), saw("P08", unexpected, "A01")}, nil, Shows, "P07 P08"},
		"one of two declared":   {[]row{saw("P07", unexpected, "A01"), saw("P08", unexpected, "A01")}, []row{saw("P07", unexpected, "A01"), saw("P08", unexpected, "A01")}, map[string]string{"P07": "so it says"}, Shows, "P08"},
		"at two":                {[]row{saw("P07", unexpected, "A01")}, []row{saw("P08", unexpected, "A01")}, nil, Unclear, "P07"},
		"declared":              {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A01")}, map[string]string{"A01": "so it says"}, Declared, "P07"},
		"declared, not seen":    {[]row{saw("P07", expected)}, nil, map[string]string{"A01": "so it says"}, Declared, "so it says"},
		"the pitfall declared":  {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A01")}, map[string]string{"P07": "so it says"}, Declared, "P07"},
		"class":                 {[]row{saw("P07", unavoidable, "A01")}, []row{saw("P07", unavoidable, "A01")}, nil, Class, "P07"},
		"another instead":       {[]row{saw("P07", unavoidable, "A06"), saw("P08", expected)}, []row{saw("P07", unavoidable, "A06")}, nil, Free, "P08"},
		"free":                  {[]row{saw("P08", expected)}, nil, nil, Free, "P08"},
		"free at two":           {[]row{saw("P07", expected), saw("P08", expected)}, nil, nil, Free, "P07 P08"},
		"free after no verdict": {[]row{saw("P07", "unknown"), saw("P08", expected)}, nil, nil, Unclear, "P07"},
		"nameless":              {[]row{saw("P07", expected), saw("P08", unexpected)}, []row{saw("P08", unexpected)}, nil, Unclear, "P08"},
		"nameless, declared":    {[]row{saw("P08", unexpected)}, []row{saw("P08", unexpected)}, map[string]string{"P08": "so it says"}, Declared, "P08"},
		"no verdict":            {[]row{saw("P07", expected), saw("P08", "unknown")}, nil, nil, Unclear, "P08"},
		"not applicable":        {[]row{saw("P07", inapt)}, nil, nil, Unasked, ""},
		"another pitfall":       {[]row{saw("P02", expected)}, nil, nil, Unasked, ""},
	} {
		p := Played{Library: Library{Declared: c.declared}, First: c.first, Again: c.again}
		got := p.Cell("A01", shown)
		if because := cmp.Or(strings.Join(got.Pitfalls, " "), got.Story); got.Verdict != c.want || because != c.because {
			t.Errorf("%s: %s because of %q, want %s because of %q", name, got.Verdict, because, c.want, c.because)
		}
	}
	if got := (Played{Problem: "it crashes"}).Cell("A01", shown); got.Verdict != Unasked {
		t.Errorf("of a library that was not played: %s", got.Verdict)
	}
}

// TestUnavoidableProperty wants no accusation by a cause that explains only what no lock of the class keeps.
func TestUnavoidableProperty(t *testing.T) {
	r := saw("P07", unexpected, "A01")
	r.Judged = append(r.Judged, finding{Property: "resource-safety", Got: "fail"})
	r.Judged[0].Unavoidable = true
	p := Played{First: []row{r}, Again: []row{r}}
	if got := p.Cell("A01", Shown{"A01": {"P07"}}); got.Verdict == Shows {
		t.Errorf("it is accused of %+v", got)
	}
}

// TestFinding wants of what has no name that it is told once for each script that confirms it, and beside every accusation what proves it.
func TestFinding(t *testing.T) {
	rows := func(last string) []row {
		return []row{saw("P07", unexpected), saw("P08", unexpected), saw("P09", unexpected), saw("P11", last), saw("P10", unexpected, "A01"), saw("P12", inapt), saw("P13", "unknown")}
	}
	f := Played{
		Asked: 40, Library: Library{
			Declared: map[string]string{"P08": "so it says"}, Confirm: map[string]string{"P07": "one", "P09": "one", "A01": "two"},
			Upstream: map[string]string{"A01": "https://example.org/1"},
		},
		First: rows(unexpected), Again: rows(expected), Schedules: map[string]string{"P07": "seven", "P10": "ten"},
		Confirmed: map[string]Confirmation{"P07": {Script: "one"}, "P09": {Script: "one"}, "A01": {Script: "two", Saw: "it"}},
	}.Finding(Shown{"A01": {"P10"}})
	if len(f.Nameless) != 2 || strings.Join(f.Nameless[0].Pitfalls, " ") != "P07 P09" || f.Nameless[0].Verdict != Shows || f.Nameless[0].Schedule != "seven" ||
		f.Nameless[0].Confirmed == nil || f.Nameless[1].Pitfalls[0] != "P08" || f.Nameless[1].Verdict != Declared || f.Nameless[1].Confirmed != nil {
		t.Errorf("without a name: %+v", f.Nameless)
	}
	c := f.Cell("A01")
	if c.Verdict != Shows || c.Schedule != "ten" || c.Upstream != "https://example.org/1" || c.Confirmed == nil || c.Confirmed.Saw != "it" {
		t.Errorf("%+v", c)
	}
	if f.Pitfalls != 40 || f.Applicable != 6 || f.Kept != 0 || len(f.Undecided) != 1 || f.Undecided[0].Pitfall != "P13" || len(f.Cells) != len(anomalies.All()) {
		t.Errorf("%+v", f)
	}
}

// TestShown wants whoever keeps what another library shows to be free of it.
func TestShown(t *testing.T) {
	one := []row{saw("P02", unexpected, "A16"), saw("P26", unexpected, "A16")}
	shown := Shown{}
	shown.played([]Played{{First: one, Again: one}, {First: []row{saw("P27", unexpected, "A16")}}})
	shown.found(Results{Libraries: []Finding{{Cells: []Cell{{Anomaly: "A16", Verdict: Shows, Pitfalls: []string{"P26", "P92"}}, {Anomaly: "A17", Verdict: Free, Pitfalls: []string{"P26"}}}}}})
	if got := strings.Join(shown["A16"], " "); got != "P02 P26 P92" || len(shown) != 1 {
		t.Errorf("%v", shown)
	}
	other := Played{First: []row{saw("P02", expected), saw("P27", expected)}}
	if got := other.Cell("A16", shown); got.Verdict != Free || strings.Join(got.Pitfalls, " ") != "P02" {
		t.Errorf("%+v", got)
	}
}

// TestSameEachTime wants nothing in what is told that differs from run to run.
func TestSameEachTime(t *testing.T) {
	c := cause{Sentence: "It ended at 1.036 s by SET k a4d5…, and worker process 1127 hangs.", Commands: []command{
		{Exchange: 7, Client: "B", Node: "master", Command: "SET k 77e0… NX", Reply: "nil"},
		{Exchange: 2, Client: "A", Node: "master", Command: "SET k a4d5… NX PXAT 946684803091", Reply: "OK"},
	}}
	if got, want := strings.Join(append(c.wire(), c.told()), "\n"), "A → master: SET k … NX PXAT …  OK\nB → master: SET k … NX  nil\nIt ended at … s by SET k …, and worker process … hangs."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
