package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// A header is what every page and every JSON begins with.
type header struct {
	Schema int    `json:"schema"`
	Title  string `json:"-"`
	Here   string `json:"-"` // which link of the navigation this is
	Store  string `json:"-"`
	JSON   string `json:"-"` // the same as JSON; empty: there is none
}

func (s *server) header(r *http.Request, title, here string) header {
	q := r.URL.Query()
	q.Set("format", "json")
	return header{Schema: Schema, Title: title, Here: here, Store: clean(filepath.Base(s.opt.Store), longestName), JSON: "?" + q.Encode()}
}

// show writes v by a template, or as JSON if that is asked for.
func (s *server) show(w http.ResponseWriter, r *http.Request, page string, v any) error {
	var b bytes.Buffer
	switch format := r.URL.Query().Get("format"); format {
	case "json":
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
	case "", "html":
		if err := s.pages.ExecuteTemplate(&b, page, v); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	default:
		return refuse(http.StatusBadRequest, "format is %q, want html or json.", clean(format, longestName))
	}
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes()) // a reader that went away is no error
	return nil
}

// fail tells an error. What is not meant for the reader is told in general.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var page *pageError
	if !errors.As(err, &page) {
		page = &pageError{http.StatusInternalServerError, "This went wrong: " + clean(err.Error(), longestName) + "."}
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policyPages)
	for _, name := range []string{"Content-Disposition", "Etag", "Last-Modified"} {
		h.Del(name)
	}
	var b bytes.Buffer
	head := s.header(r, http.StatusText(page.status), "")
	head.JSON = ""
	if err := s.pages.ExecuteTemplate(&b, "error.html", struct {
		header
		Text string
	}{head, page.text}); err != nil {
		http.Error(w, page.text, page.status)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(page.status)
	_, _ = w.Write(b.Bytes()) // a reader that went away is no error
}

// A listing is one page of the list of runs.
type listing struct {
	header
	Total  int      `json:"total"` // runs in the store
	More   bool     `json:"more"`  // there are more, which are not listed
	Found  int      `json:"found"` // of them, that the filter keeps
	Filter filter   `json:"filter"`
	Sort   string   `json:"sort,omitempty"` // empty: newest first
	Page   int      `json:"page"`
	Pages  int      `json:"pages"`
	Runs   []*entry `json:"runs"`

	First     int        `json:"-"` // the number of the first run on this page
	Last      int        `json:"-"`
	Previous  string     `json:"-"`
	Next      string     `json:"-"`
	Order     string     `json:"-"` // in words
	Beside    *runID     `json:"-"` // the run that another one is chosen to be compared with
	Choices   []choice   `json:"-"`
	Matrix    string     `json:"-"`
	Refreshed time.Time  `json:"-"`
	Kept      url.Values `json:"-"`
}

// A choice is one field of the form that filters.
type choice struct {
	Name, Label, Asked string
	Values             []string
}

func (s *server) list(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f, err := parseFilter(q)
	if err != nil {
		return err
	}
	all, err := s.index.runs()
	if err != nil {
		return err
	}
	by, err := orderOf(q)
	if err != nil {
		return err
	}
	found := f.apply(all.runs)
	slices.SortStableFunc(found, by.compare)
	page, pages, err := pageOf(q, len(found))
	if err != nil {
		return err
	}
	first := (page - 1) * perPage
	l := listing{
		header: s.header(r, "Runs", "list"), Total: len(all.runs), More: all.more, Found: len(found), Filter: f, Page: page, Pages: pages,
		Sort: by.Name, Order: by.Label,
		Runs: found[first:min(first+perPage, len(found))], First: first + 1, Refreshed: all.at,
		Matrix: "/matrix?" + f.query().Encode(), Kept: url.Values{},
		Choices: []choice{
			{"scenario", "Scenario", f.Scenario, choices(all.runs, f.Scenario, func(e *entry) []string { return []string{e.Scenario} })},
			{"lock", "Lock", f.Lock, choices(all.runs, f.Lock, func(e *entry) []string { return []string{e.Lock} })},
			{"backend", "Backend", f.Backend, choices(all.runs, f.Backend, func(e *entry) []string { return []string{e.Backend} })},
			{"verdict", "Verdict", f.Verdict, verdicts()},
			{"outcome", "Outcome", f.Outcome, outcomes()},
			{"violated", "Violated", f.Violated, choices(all.runs, f.Violated, func(e *entry) []string { return e.Violated })},
		},
	}
	l.Last = first + len(l.Runs)
	if l.Runs == nil {
		l.Runs = []*entry{}
	}
	if with := q.Get("with"); with != "" {
		id, err := parseID(with)
		if err != nil {
			return err
		}
		l.Beside = &id
		l.Kept.Set("with", with)
	}
	if by.Name != "" {
		l.Kept.Set("sort", by.Name)
	}
	l.Previous, l.Next = l.link(page-1), l.link(page+1)
	return s.show(w, r, "list.html", l)
}

// Sorted leads to the first page of the same list in another order.
func (l listing) Sorted(by string) string {
	q := l.Filter.query()
	for name, values := range l.Kept {
		q[name] = values
	}
	q.Del("sort")
	if by != "" {
		q.Set("sort", by)
	}
	return "/?" + q.Encode()
}

// link leads to another page of the same list; it is empty for one that there is not.
func (l listing) link(page int) string {
	if page < 1 || page > l.Pages {
		return ""
	}
	q := l.Filter.query()
	for name, values := range l.Kept {
		q[name] = values
	}
	q.Set("page", strconv.Itoa(page))
	return "/?" + q.Encode()
}
