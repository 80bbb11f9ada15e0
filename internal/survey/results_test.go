package survey

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the list says into the results, and docs/libraries.md from these")

// TestPage wants docs/libraries.md to be what the results say, and these to have what the list says of each library beside its runs.
func TestPage(t *testing.T) {
	r, err := Found()
	if err != nil {
		t.Fatal(err)
	}
	told := listed(r)
	if !reflect.DeepEqual(told, r) {
		t.Error("the results do not say what the list says; run: make docs, and make libraries libraries-trixie for libraries that were not played yet")
	}
	page := filepath.Join(root, "docs/libraries.md")
	if *update {
		data, err := told.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string]string{"libraries.json": string(data), page: told.Markdown()} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != r.Markdown() {
		t.Errorf("%s is not what the results say; run: make docs", page)
	}
}

// listed are the results without what is listed no more, and with what the list says of the rest.
func listed(r Results) (told Results) {
	told.Schema = r.Schema
	for _, f := range r.Libraries {
		list := Libraries()
		if f.System == trixie {
			list = Trixie()
		}
		for _, l := range list {
			if l.Name != f.Name {
				continue
			}
			f.Language, f.Promises, f.Safely = l.Language, l.Promises, l.Safely
			f.Cells, f.Nameless = f.linked(f.Cells, l), f.linked(f.Nameless, l)
			told.Libraries = append(told.Libraries, f)
		}
	}
	return told
}

// linked are cells with the threads upstream of a list.
func (f Finding) linked(cells []Cell, l Library) []Cell {
	all := append([]Cell{}, cells...)
	for i, c := range all {
		if all[i].Upstream = ""; c.Verdict == Shows {
			all[i].Upstream = l.Upstream[about(c)]
		}
	}
	return all
}

// TestEveryLibraryWasPlayed wants results of every library of the lists, each on its system and dated.
func TestEveryLibraryWasPlayed(t *testing.T) {
	r, err := Found()
	if err != nil {
		t.Fatal(err)
	}
	for i, list := range [][]Library{Libraries(), Trixie()} {
		for _, l := range list {
			n := 0
			for _, f := range r.Libraries {
				if f.Name != l.Name || (f.System == trixie) != (i == 1) {
					continue
				}
				n++
				if (f.Untimed == nil) != (l.Untimed == "") {
					t.Errorf("%s on %s: taken without saying for how long, %+v", f.Name, f.System, f.Untimed)
				}
				if f.Problem != "" || f.Version == "" || (f.Server == "") != (l.Worker == "") || f.Date == "" || f.System == "" {
					t.Errorf("%s on %s: %+v", f.Name, f.System, f)
				}
			}
			if n != 1 {
				t.Errorf("there are %d results of %s, want 1; run: make libraries libraries-trixie", n, l.Name)
			}
		}
	}
}

// TestNothingIsClaimedWithoutProof wants of each accusation its command, schedule and wire, and that a direct script saw it, too.
func TestNothingIsClaimedWithoutProof(t *testing.T) {
	r, err := Found()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Libraries {
		for _, c := range append(f.Cells, f.Nameless...) {
			if c.Verdict != Shows {
				continue
			}
			if c.Story == "" || c.Confirmed == nil || c.Confirmed.Failed != "" || !strings.HasPrefix(c.Schedule, "lockbench schedule ") || !strings.Contains(c.Command, "lockbench run ") {
				t.Errorf("%s, %s: %+v", f.Name, c.Anomaly, c)
			}
		}
	}
}

// TestWith wants newer findings in the place of those of the same library on the same system.
func TestWith(t *testing.T) {
	f := func(name, system, version string) Finding {
		return Finding{Name: name, System: system, Version: version}
	}
	r := Results{Schema, []Finding{f("a", "1", "old"), f("b", "1", "old")}}
	after := r.with([]Finding{f("b", "1", "new"), f("a", "2", "new"), f("c", "1", "new")})
	want := []Finding{f("a", "1", "old"), f("a", "2", "new"), f("b", "1", "new"), f("c", "1", "new")}
	if !reflect.DeepEqual(after.Libraries, want) {
		t.Errorf("%+v", after.Libraries)
	}
	if got := after.Title(want[0]) + "; " + after.Title(want[2]); got != "a, 1; b" {
		t.Errorf("titles: %s", got)
	}
}

// TestResultsReadAsWritten wants results to be read as they were written, and others to be refused.
func TestResultsReadAsWritten(t *testing.T) {
	r := Results{Schema, []Finding{{Name: "a <b>", Cells: []Cell{{Anomaly: "A01", Verdict: Shows, Wire: []string{"x"}, Confirmed: &Confirmation{Saw: "y"}}}}}}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseResults(data); err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%v: %+v", err, again)
	}
	for _, bad := range []string{"", "{", `{"schema":2,"libraries":[]}`, `{"schema":1,"libraries":[],"rows":[]}`, `[]`} {
		if _, err := ParseResults([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestMarkdownEscapes wants nothing of a library's to break the table.
func TestMarkdownEscapes(t *testing.T) {
	page := Results{Schema, []Finding{{Name: "a", Language: "Go", Problem: "x|y\nz <script>"}}}.Markdown()
	if !strings.Contains(page, "| a (Go) | ? | not played: x\\|y z &lt;script>") {
		t.Error(page)
	}
}
