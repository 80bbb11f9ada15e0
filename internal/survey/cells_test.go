package survey

import (
	"strings"
	"testing"
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
		"twice":                {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A01")}, nil, Shows, "P07"},
		"once":                 {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", expected)}, nil, Unclear, "P07"},
		"then another":         {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A05")}, nil, Unclear, "P07"},
		"at two":               {[]row{saw("P07", unexpected, "A01")}, []row{saw("P08", unexpected, "A01")}, nil, Unclear, "P07"},
		"declared":             {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A01")}, map[string]string{"A01": "so it says"}, Declared, "so it says"},
		"the pitfall declared": {[]row{saw("P07", unexpected, "A01")}, []row{saw("P07", unexpected, "A01")}, map[string]string{"P07": "so it says"}, Declared, "so it says"},
		"class":                {[]row{saw("P07", unavoidable, "A01")}, []row{saw("P07", unavoidable, "A01")}, nil, Class, "P07"},
		"another instead":      {[]row{saw("P07", unavoidable, "A06"), saw("P08", expected)}, []row{saw("P07", unavoidable, "A06")}, nil, Free, "P08"},
		"free":                 {[]row{saw("P08", expected)}, nil, nil, Free, "P08"},
		"nameless":             {[]row{saw("P07", expected), saw("P08", unexpected)}, []row{saw("P08", unexpected)}, nil, Unclear, "P08"},
		"nameless, declared":   {[]row{saw("P08", unexpected)}, []row{saw("P08", unexpected)}, map[string]string{"P08": "so it says"}, Declared, "so it says"},
		"no verdict":           {[]row{saw("P07", expected), saw("P08", "unknown")}, nil, nil, Unclear, "P08"},
		"not applicable":       {[]row{saw("P07", inapt)}, nil, nil, Unasked, ""},
		"another pitfall":      {[]row{saw("P02", expected)}, nil, nil, Unasked, ""},
	} {
		p := Played{Library: Library{Declared: c.declared}, First: c.first, Again: c.again}
		if got := p.Cell("A01", shown); got.Verdict != c.want || got.Because != c.because {
			t.Errorf("%s: %s because of %q, want %s because of %q", name, got.Verdict, got.Because, c.want, c.because)
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

func TestNameless(t *testing.T) {
	p := Played{
		Library: Library{Declared: map[string]string{"P08": "so it says"}},
		First:   []row{saw("P07", unexpected), saw("P08", unexpected), saw("P09", unexpected), saw("P10", unexpected, "A01")},
		Again:   []row{saw("P07", unexpected), saw("P08", unexpected), saw("P09", expected), saw("P10", unexpected, "A01")},
	}
	all := p.Nameless()
	if len(all) != 2 || all[0].Because != "P07" || all[0].Verdict != Shows || all[1].Because != "P08" || all[1].Verdict != Declared {
		t.Errorf("%+v", all)
	}
}

// TestSameEachTime wants nothing in what is told that differs from run to run.
func TestSameEachTime(t *testing.T) {
	c := cause{Sentence: "It ended at 1.036 s by SET k a4d5….", Commands: []command{
		{Exchange: 7, Client: "B", Node: "master", Command: "SET k 77e0… NX", Reply: "nil"},
		{Exchange: 2, Client: "A", Node: "master", Command: "SET k a4d5… NX", Reply: "OK"},
	}}
	if got, want := strings.Join(append(c.wire(), c.told()), "\n"), "A → master: SET k … NX  OK\nB → master: SET k … NX  nil\nIt ended at … s by SET k …."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
