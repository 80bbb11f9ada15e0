package serve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

type document struct {
	Schema, Total, Found, Page, Pages int
	Runs                              []struct {
		ID, Scenario, Lock, Phase, Verdict, Outcome, Damage string
		Seed                                                uint64
	}
}

func (s *shop) list(query string) document {
	s.t.Helper()
	var d document
	s.json("/?format=json&"+query, &d)
	if d.Schema != 1 {
		s.t.Errorf("schema is %d, want 1", d.Schema)
	}
	return d
}

func (d document) seeds() []uint64 {
	var seeds []uint64
	for _, r := range d.Runs {
		seeds = append(seeds, r.Seed)
	}
	return seeds
}

func TestListFilters(t *testing.T) {
	s := open(t)
	run := func(seed uint64, scenario, lock, backend string, verdict checker.Verdict, outcome checker.Outcome) {
		s.keep(sample{verdict: verdict, outcome: outcome, meta: histories.Meta{
			Seed: seed, Scenario: scenario, Lock: lock, Backend: backend, Title: "About " + lock, Started: epoch.Add(time.Duration(seed) * time.Second),
		}})
	}
	run(1, "failover", "setnx", "embedded", checker.Fail, checker.AsExpected)
	run(2, "failover", "redlock", "embedded", checker.Pass, checker.AsExpected)
	run(3, "pause", "setnx", "process", checker.Fail, checker.Unexpected)
	run(4, "pause", "redlock", "process", checker.Unknown, checker.Undecided)
	s.write("pause/broken/run.json", "{")
	for query, want := range map[string][]uint64{
		"":                               {4, 3, 2, 1, 0},
		"scenario=pause":                 {4, 3, 0},
		"lock=redlock":                   {4, 2},
		"lock=redlock&scenario=pause":    {4},
		"backend=embedded":               {2, 1},
		"verdict=fail":                   {3, 1},
		"verdict=pass":                   {2},
		"verdict=none":                   {4},
		"verdict=damaged":                {0},
		"verdict=unknown":                nil,
		"outcome=unexpected":             {3},
		"outcome=expected&verdict=pass":  {2},
		"q=ABOUT+REDLOCK":                {4, 2},
		"q=redlock+failover":             {2},
		"q=seed+3":                       {3},
		"q=":                             {4, 3, 2, 1, 0},
		"violated=mutual-exclusion":      {3, 1},
		"violated=ownership":             nil,
		"q=mutual+exclusion":             {3, 1},
		"sort=lock":                      {0, 4, 2, 3, 1},
		"sort=violated&backend=embedded": {1, 2},
		"sort=outcome&backend=process":   {3, 4},
		"sort=scenario&lock=setnx":       {1, 3},
		"lock=nobody":                    nil,
		"q=%25":                          nil,
	} {
		got := s.list(query).seeds()
		if query == "" || query == "q=" || query == "scenario=pause" { // the damaged one is dated by its directory
			slices.Sort(got)
			slices.Reverse(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	contains(t, s.get(http.StatusOK, "/?lock=nobody"), "None of 5 runs is like that")
	contains(t, s.get(http.StatusOK, "/?verdict=fail"), "2 of 5 runs", `<option value="fail" selected>FAIL</option>`)
	contains(t, s.get(http.StatusOK, "/?lock=setnx&sort=lock"), "2 of 5 runs, by lock", `<span class="mark good">FAIL</span>`, `<span class="mark bad">FAIL</span>`,
		`aria-sort="ascending">Lock`, `href="/?lock=setnx&amp;sort=violated"`, `<input type="hidden" name="sort" value="lock">`, `<option value="mutual-exclusion">mutual exclusion</option>`)
	for _, bad := range []string{"verdict=maybe", "outcome=good", "page=0", "page=-1", "page=x", "page=99999999999999999999", "format=xml", "sort=size", "q=" + strings.Repeat("a", 201), "with=x"} {
		s.get(http.StatusBadRequest, "/?"+bad)
	}
}

func TestEmptyStore(t *testing.T) {
	s := open(t)
	contains(t, s.get(http.StatusOK, "/"), "There are no runs in this store")
	contains(t, s.get(http.StatusOK, "/matrix"), "There are no such runs")
	if d := s.list(""); d.Total != 0 || d.Runs == nil || d.Pages != 1 {
		t.Errorf("got %+v", d)
	}
}

// TestPaging walks the pages by their links: every run is there once, newest first.
func TestPaging(t *testing.T) {
	s := open(t)
	const n = 250
	for i := range n {
		s.write(fmt.Sprintf("a/%d/run.json", i), fmt.Sprintf(`{"schema":1,"scenario":"a","lock":"l","seed":%d,"started":%q,"phase":"recorded"}`,
			i, epoch.Add(time.Duration(i)*time.Second).Format(time.RFC3339)))
	}
	var seen []uint64
	target, pages := "/?lock=l", 0
	for ; target != ""; pages++ {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		d := s.list(u.RawQuery)
		seen = append(seen, d.seeds()...)
		_, rest, found := strings.Cut(s.get(http.StatusOK, target), `" rel="next"`)
		if target = ""; found {
			page := s.get(http.StatusOK, "/?"+u.RawQuery)
			before, _, _ := strings.Cut(page, `" rel="next"`)
			target = strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
		}
		_ = rest
	}
	if pages != 3 || len(seen) != n || !slices.IsSortedFunc(seen, func(a, b uint64) int { return int(b) - int(a) }) {
		t.Errorf("%d pages with %d runs, want 3 with %d, newest first: %v", pages, len(seen), n, seen)
	}
	if d := s.list("page=9"); d.Page != 3 || len(d.Runs) != 50 {
		t.Errorf("page 9 is page %d with %d runs, want the last", d.Page, len(d.Runs))
	}
}

// TestDamagedRuns are listed with the reason, and hide no others.
func TestDamagedRuns(t *testing.T) {
	s := open(t)
	s.keep(sample{verdict: checker.Pass})
	for name, data := range map[string]string{
		"empty": "", "cut": `{"schema":1,"scena`, "list": "[]", "text": `"x"`, "schema": `{"schema":7}`, "none": `{}`, "deep": strings.Repeat("[", 100_000),
		"seed": `{"schema":1,"seed":-1}`, "nul": "\x00\x00",
	} {
		s.write("bad/"+name+"/run.json", data)
	}
	s.write("half/results/run.json", `{"schema":1,"scenario":"half","phase":"checked","lock":"kept"}`)
	s.write("half/results/results.json", `{"schema":1,"verdict":"perhaps"}`)
	s.write("far/away/run.json", `{"schema":1,"scenario":"far","phase":"recorded","started":"9999-12-31T23:59:59-23:00"}`)
	s.write("no/run/history.jsonl", "")
	s.write(".hidden/run/run.json", `{"schema":1}`)
	damage := map[string]string{}
	for _, r := range s.list("").Runs {
		damage[r.ID] = r.Damage
	}
	if len(damage) != 12 {
		t.Errorf("listed are %d runs, want 12: %v", len(damage), damage)
	}
	for id, why := range damage {
		if broken := strings.HasPrefix(id, "bad/") || strings.HasPrefix(id, "half/"); broken != (why != "") {
			t.Errorf("%s: damage is %q", id, why)
		}
	}
	contains(t, damage["bad/schema"], `"schema" is 7, want 1`)
	contains(t, damage["half/results"], `verdict is "perhaps"`)
	page := s.get(http.StatusOK, "/?q=kept")
	contains(t, page, "kept", "damaged")
	lacks(t, page, "mark good", "mark bad")
	for id := range damage {
		s.get(http.StatusOK, "/runs/"+id+"/details")
		s.get(http.StatusOK, "/runs/"+id+"/details?format=json")
	}
	s.get(http.StatusOK, "/matrix?format=json")
	s.get(http.StatusUnprocessableEntity, "/runs/bad/cut/report.html")
}

// TestHugeFiles have holes that no disk holds. They are refused, or sent in parts.
func TestHugeFiles(t *testing.T) {
	for name, size := range map[string]int64{"run.json": 1 << 30, "results.json": 1 << 31, "history.jsonl": 10 << 30, "commands.jsonl": 10 << 30} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			id := s.keep(sample{verdict: checker.Pass})
			s.write(id+"/commands.jsonl", "")
			if err := os.Truncate(filepath.Join(s.dir, id, name), size); err != nil {
				t.Skipf("no file with a hole of %d bytes: %v", size, err)
			}
			list := s.get(http.StatusOK, "/")
			details := s.get(http.StatusOK, "/runs/"+id+"/details")
			report := "/runs/" + id + "/report.html"
			switch name {
			case "run.json":
				contains(t, list, "run.json has 1.1 GB, want at most 1.0 MB")
				contains(t, s.get(http.StatusUnprocessableEntity, report), "run.json has 1.1 GB")
			case "results.json":
				contains(t, list, "results.json has 2.1 GB, want at most 16.8 MB")
				contains(t, s.get(http.StatusOK, report), "results.json has 2.1 GB", "verdict unknown")
			case "history.jsonl":
				contains(t, details, "10.7 GB")
				contains(t, s.get(http.StatusUnprocessableEntity, report), "history.jsonl has 10.7 GB, want at most 134.2 MB")
				contains(t, s.get(http.StatusOK, "/compare?run="+id+"&run="+id), "As far as both could be read, 0 events, they do not part", "history.jsonl:1: the line is longer than 16 MiB")
			case "commands.jsonl":
				contains(t, s.get(http.StatusOK, report), "commands.jsonl has 10.7 GB")
			}
			if got := s.get(http.StatusPartialContent, "/runs/"+id+"/"+name, "Range", fmt.Sprintf("bytes=%d-", size-3)); got != "\x00\x00\x00" {
				t.Errorf("the end is %q", got)
			}
			if res := s.ask(http.MethodHead, "/runs/"+id+"/"+name); res.ContentLength != size {
				t.Errorf("length is %d, want %d", res.ContentLength, size)
			}
		})
	}
}

// TestPhases follows a run while it is played, and after it is gone. Between two looks its
// files have the same size, and on a coarse clock the same time.
func TestPhases(t *testing.T) {
	s := open(t)
	m := histories.Meta{Scenario: "a", Started: epoch}
	d, err := histories.Create(s.dir, m)
	if err != nil {
		t.Fatal(err)
	}
	look := func(want string) {
		t.Helper()
		s.later()
		got := ""
		for _, r := range s.list("").Runs {
			got += r.Phase + " " + r.Verdict + " " + r.Outcome
		}
		if got != want {
			t.Errorf("listed is %q, want %q", got, want)
		}
	}
	look("running  ")
	if err := d.Recorded(m); err != nil {
		t.Fatal(err)
	}
	look("recorded  ")
	judge := func(v checker.Verdict) {
		t.Helper()
		err := d.Checked(m, checker.Judgement{Schema: checker.JudgementSchema, Report: checker.Report{Verdict: v}})
		if err != nil {
			t.Fatal(err)
		}
		same := time.Unix(0, 0)
		if err := os.Chtimes(filepath.Join(d.Path(), histories.ResultsFile), same, same); err != nil {
			t.Fatal(err)
		}
	}
	judge(checker.Pass)
	look("checked pass unknown")
	judge(checker.Fail)
	look("checked fail unknown")
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	look("")
}

// TestComingAndGoing lists, shows and compares while runs are written and removed.
func TestComingAndGoing(t *testing.T) {
	s := open(t)
	stay := s.keep(sample{verdict: checker.Pass, meta: histories.Meta{Scenario: "stays"}})
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			scenario := fmt.Sprintf("w%d", i)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				m := histories.Meta{Scenario: scenario, Started: epoch, Seed: uint64(n % 5)}
				d, err := histories.Create(s.dir, m)
				if err == nil {
					err = d.Recorded(m)
				}
				if err == nil {
					err = d.Checked(m, checker.Judgement{Schema: checker.JudgementSchema, Report: checker.Report{Verdict: checker.Pass}})
				}
				if err == nil {
					err = os.RemoveAll(d.Path())
				}
				if err != nil {
					t.Errorf("the writer: %v", err)
					return
				}
			}
		})
	}
	for range 4 {
		readers.Go(func() {
			for range 25 {
				s.later()
				contains(t, s.get(http.StatusOK, "/"), "stays")
				d := s.list("")
				for _, r := range d.Runs {
					if r.Damage != "" {
						t.Errorf("%s is damaged: %s", r.ID, r.Damage)
					}
				}
				for _, r := range d.Runs[:min(2, len(d.Runs))] {
					for _, target := range []string{"/runs/" + r.ID + "/details", "/runs/" + r.ID + "/report.html", "/runs/" + r.ID + "/run.json", "/compare?run=" + stay + "&run=" + r.ID} {
						if res := s.ask(http.MethodGet, target); res.StatusCode != 200 && res.StatusCode != 404 && res.StatusCode != 422 {
							t.Errorf("GET %s: %s", target, res.Status)
						}
					}
				}
				s.get(http.StatusOK, "/matrix")
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
}
