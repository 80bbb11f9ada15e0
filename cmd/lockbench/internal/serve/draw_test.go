package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/serve"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// TestReport: the report that is there is served, and otherwise one is drawn, once for all
// who ask for it as long as the run stays the same.
func TestReport(t *testing.T) {
	s := open(t)
	id := s.keep(sample{verdict: checker.Fail, events: history(2, 1)})
	report := "/runs/" + id + "/report.html"
	want := "drawn " + id + ": 8 events, verdict fail, notes []"
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := s.get(http.StatusOK, report); got != want {
				t.Errorf("drawn is %q, want %q", got, want)
			}
		})
	}
	all.Wait()
	if s.drawn != 1 {
		t.Errorf("drawn %d times, want once", s.drawn)
	}
	s.write(id+"/history.jsonl", s.get(http.StatusOK, "/runs/"+id+"/history.jsonl")+`{"index":`)
	contains(t, s.get(http.StatusOK, report), "8 events", "damaged: history.jsonl:9: the last line is truncated")
	if s.drawn != 2 {
		t.Errorf("drawn %d times, want again after a change", s.drawn)
	}
	s.write(id+"/report.html", "kept")
	if got := s.get(http.StatusOK, report); got != "kept" {
		t.Errorf("served is %q, want the report that is there", got)
	}
	for _, target := range []string{"/runs/" + id, "/runs/" + id + "/"} {
		if to := s.ask(http.MethodGet, target).Header.Get("Location"); to != report {
			t.Errorf("%s leads to %q", target, to)
		}
	}
}

// TestKilledRun has neither an end nor results.
func TestKilledRun(t *testing.T) {
	s := open(t)
	s.write("a/killed/run.json", `{"schema":1,"scenario":"a","phase":"running"}`)
	contains(t, s.get(http.StatusOK, "/runs/a/killed/report.html"), "0 events, verdict unknown")
	page := s.get(http.StatusOK, "/runs/a/killed/details")
	contains(t, page, "This run was not judged: unknown.")
	lacks(t, page, "mark good", "mark bad")
}

func TestDrawingFails(t *testing.T) {
	s := open(t)
	id := s.keep(sample{})
	for name, draw := range map[string]func(io.Writer, report.Run) error{
		"half <a> page": func(w io.Writer, _ report.Run) error { fmt.Fprint(w, "half"); return errors.New("half <a> page") },
		"its page is larger than": func(w io.Writer, _ report.Run) error {
			_, err := io.Copy(w, io.LimitReader(zeros{}, 1<<30))
			return err
		},
	} {
		h, err := serve.New(serve.Options{Store: s.dir, Draw: draw, Now: s.clock})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/runs/"+id+"/report.html", nil))
		if body := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(body, strings.ReplaceAll(strings.ReplaceAll(name, "<", "&lt;"), ">", "&gt;")) || strings.Contains(body, "half<") {
			t.Errorf("%s: %d %s", name, w.Code, body)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestDetails tells what was judged, expected and kept, and finds the run before of the kind.
func TestDetails(t *testing.T) {
	s := open(t)
	meta := histories.Meta{Scenario: "a", Lock: "l", Started: epoch, Command: "lockbench run"}
	first := s.keep(sample{verdict: checker.Fail, meta: meta})
	meta.Started = meta.Started.Add(1e9)
	meta.Lock = "another"
	s.keep(sample{meta: meta})
	meta.Started, meta.Lock = meta.Started.Add(1e9), "l"
	second := s.keep(sample{verdict: checker.Pass, outcome: checker.Unexpected, meta: meta})
	s.write(second+"/logs/n1.log", "x")
	contains(t, s.get(http.StatusOK, "/runs/"+second+"/details"),
		"NOT as expected", "mutual exclusion", "what was seen", "<code>lockbench run</code>", "history.jsonl", "logs/n1.log", "1 byte<",
		"/compare?run="+strings.ReplaceAll(first, "/", "%2f")+"&amp;run=")
	lacks(t, s.get(http.StatusOK, "/runs/"+first+"/details"), "Compare with the run before")
	page := s.get(http.StatusOK, "/?with="+first)
	contains(t, page, "Choose the run to be compared with", `<input type="hidden" name="run" value="`+first+`">`, `type="radio"`)
}
