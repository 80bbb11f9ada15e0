package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/serve"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// A shop is a store and the handler that serves it, at an hour that the test sets.
type shop struct {
	t     *testing.T
	dir   string
	h     http.Handler
	drawn int

	mu  sync.Mutex
	now time.Time
}

var epoch = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{t: t, dir: filepath.Join(t.TempDir(), "store"), now: epoch}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	s.h, err = serve.New(serve.Options{Store: s.dir, Draw: s.draw, Now: s.clock, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// draw is called for one run at a time.
func (s *shop) draw(w io.Writer, r report.Run) error {
	s.drawn++
	_, err := fmt.Fprintf(w, "drawn %s: %d events, verdict %s, notes %v", r.Dir, len(r.Events), r.Verdict, r.Notes)
	return err
}

func (s *shop) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// later makes what the handler has seen of the store old.
func (s *shop) later() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Minute)
}

func (s *shop) ask(method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost:8080/", nil)
	u, err := url.ParseRequestURI(target) // as the server does: what a client would clean up is not
	if err != nil {
		s.t.Fatalf("%q: %v", target, err)
	}
	r.URL = u
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	return w.Result()
}

// get expects a status, and returns the body.
func (s *shop) get(status int, target string, headers ...string) string {
	s.t.Helper()
	res := s.ask(http.MethodGet, target, headers...)
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != status {
		s.t.Fatalf("GET %s: %s, want %d\n%s", target, res.Status, status, body)
	}
	return string(body)
}

// json expects a document, and reads it into v.
func (s *shop) json(target string, v any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.get(http.StatusOK, target)), v); err != nil {
		s.t.Fatalf("%s: %v", target, err)
	}
}

// A sample is a run to be kept; what is not set has a default.
type sample struct {
	meta    histories.Meta
	verdict checker.Verdict // Unknown: not judged
	outcome checker.Outcome
	events  []histories.Event
}

// keep writes a run as lockbench does, and returns its id.
func (s *shop) keep(x sample) string {
	s.t.Helper()
	m := x.meta
	if m.Scenario == "" {
		m.Scenario = "failover"
	}
	if m.Started.IsZero() {
		m.Started = epoch
	}
	d, err := histories.Create(s.dir, m)
	if err == nil {
		err = histories.WriteJSONL(d.HistoryFile(), x.events)
	}
	if err == nil {
		err = d.Recorded(m)
	}
	if err == nil && x.verdict != checker.Unknown {
		err = d.Checked(m, checker.Judgement{
			Schema: checker.JudgementSchema, Outcome: x.outcome, Expected: []checker.Judged{}, Survivors: []string{},
			Report: checker.Report{Verdict: x.verdict, Results: []checker.Result{
				{Property: checker.StrictExclusion, Verdict: x.verdict, Story: "what was seen"},
			}},
		})
		if err == nil {
			err = d.Publish(m)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	id, err := filepath.Rel(s.dir, d.Path())
	if err != nil {
		s.t.Fatal(err)
	}
	return filepath.ToSlash(id)
}

// write puts a file into the store, and its directories.
func (s *shop) write(name, data string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(data), 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) link(to, name string) {
	s.t.Helper()
	if err := os.Symlink(to, filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

func lacks(t *testing.T, text string, unwanted ...string) {
	t.Helper()
	for _, bad := range unwanted {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in:\n%s", bad, text)
		}
	}
}
