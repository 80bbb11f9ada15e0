package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

const (
	reportFile = "report.html"
	logsDir    = "logs"
	mostFiles  = 500 // of a run, that are listed
)

// pathID is the run that a path names.
func pathID(r *http.Request) (runID, error) {
	return parseID(r.PathValue("scenario") + "/" + r.PathValue("run"))
}

// run leads to the report of a run. The link latest leads to the run that it means now.
func (s *server) run(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	dir, err := s.store.openRun(id)
	if err != nil {
		return err
	}
	defer dir.Close()
	root, err := s.store.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if to, err := root.Readlink(id.String()); err == nil && plainName(to) {
		id.name = to
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, id.URL()+reportFile, http.StatusFound)
	return nil
}

// report serves the report that a run has, or draws one.
func (s *server) report(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	dir, err := s.store.openRun(id)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = s.send(w, r, dir, reportFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return unreadable(id, err)
	}
	page, err := s.artist.drawing(r.Context(), dir, id)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", policyFiles)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = patientWriter{w, s.opt.Now}.Write(page) // a reader that went away is no error
	return nil
}

// file serves a file of a run as it is.
func (s *server) file(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	name := r.PathValue("file")
	if !plainName(strings.TrimPrefix(name, logsDir+"/")) {
		return refuse(http.StatusNotFound, "There is no file %q in a run.", clean(name, longestName))
	}
	dir, err := s.store.openRun(id)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unreadable(id, s.send(w, r, dir, name))
}

// unreadable says of a file that there is none, or why it cannot be read.
func unreadable(id runID, err error) error {
	if err == nil {
		return nil
	}
	return refuse(http.StatusNotFound, "There is no file of %s that can be read here: %s.", id, clean(err.Error(), longestName))
}

// send serves a file, or parts of it, in a sandbox. An error of fs.ErrNotExist says that
// there is none.
func (s *server) send(w http.ResponseWriter, r *http.Request, dir *os.Root, name string) error {
	f, info, err := openFile(dir, name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	h := w.Header()
	h.Set("Content-Security-Policy", policyFiles)
	h.Set("Content-Type", contentType(name))
	h.Set("Etag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	if r.URL.Query().Has("download") {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	http.ServeContent(patientWriter{w, s.opt.Now}, r, "", info.ModTime(), f)
	return nil
}

// contentType is that of what lockbench writes; all else is text.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".json":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/plain; charset=utf-8"
}

// A fact is a field of run.json in words.
type fact struct {
	Name  string `json:"field"`
	Value string `json:"value"`
}

// facts are all fields of m in the order of the page, empty ones too.
func facts(m histories.Meta) []fact {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	all := []fact{
		{"scenario", m.Scenario}, {"pitfall", m.Pitfall}, {"title", m.Title}, {"workload", m.Workload},
		{"lock", m.Lock}, {"guard", m.Guard}, {"backend", m.Backend}, {"server", m.Server}, {"topology", m.Topology},
		{"seed", fmt.Sprint(m.Seed)}, {"clients", number(m.Clients)}, {"keys", number(m.Keys)}, {"rate", ""}, {"lease", ""},
		{"started", clock(m.Started) + " UTC"}, {"phase", string(m.Phase)}, {"version", m.Version},
		{"replayable", "no"}, {"command", m.Command}, {"notes", strings.Join(m.Notes, " · ")},
	}
	for i := range all {
		switch f := &all[i]; {
		case f.Name == "rate" && m.Rate > 0:
			f.Value = fmt.Sprintf("%v rounds/s", m.Rate)
		case f.Name == "lease" && m.TTL != 0:
			f.Value = m.TTL.String()
		case f.Name == "replayable" && m.Replayable:
			f.Value = "yes"
		}
		all[i].Value = clean(all[i].Value, longestStory)
	}
	return all
}

// A file of a run.
type file struct {
	Name string    `json:"name"`
	Size int64     `json:"size"`
	Time time.Time `json:"changed"`
}

// files are the regular files of a run and of its logs.
func files(dir *os.Root) []file {
	var all []file
	for _, below := range []string{".", logsDir} {
		f, err := dir.Open(below)
		if err != nil {
			continue
		}
		names, _ := f.Readdirnames(mostFiles) // none of those that cannot be listed is shown
		_ = f.Close()                         // read only: nothing can be lost
		for _, name := range names {
			whole := path.Join(below, name)
			if info, err := dir.Stat(whole); err == nil && info.Mode().IsRegular() && plainName(name) {
				all = append(all, file{whole, info.Size(), info.ModTime().UTC()})
			}
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// A sheet tells of a run in tables.
type sheet struct {
	header
	ID       runID                               `json:"id"`
	Meta     []fact                              `json:"run"`
	Judged   bool                                `json:"judged"`
	Results  checker.Judgement                   `json:"results"`
	Expected map[checker.Property]checker.Judged `json:"-"`
	Files    []file                              `json:"files"`
	Damage   []string                            `json:"damage"`
	Previous *runID                              `json:"previous,omitempty"` // the run before of the same scenario, lock, guard and backend
}

func (s *server) details(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	dir, err := s.store.openRun(id)
	if err != nil {
		return err
	}
	defer dir.Close()
	done, err := s.readers.take(r.Context())
	if err != nil {
		return err
	}
	defer done()
	p := sheet{header: s.header(r, "Run "+id.String(), ""), ID: id, Files: files(dir), Expected: map[checker.Property]checker.Judged{}, Damage: []string{}}
	meta, _, err := readMeta(dir)
	if err == nil {
		p.Meta = facts(meta)
	} else {
		p.Damage = append(p.Damage, clean(err.Error(), longestName))
	}
	if p.Results, p.Judged, err = readJudgement(dir); err != nil {
		p.Damage = append(p.Damage, clean(err.Error(), longestName))
	}
	for _, e := range p.Results.Expected {
		p.Expected[e.Property] = e
	}
	all, err := s.index.runs()
	if err != nil {
		return err
	}
	p.Previous = before(all.runs, id)
	return s.show(w, r, "details.html", p)
}

// before finds the run before of the same kind.
func before(runs []*entry, id runID) *runID {
	i := slices.IndexFunc(runs, func(e *entry) bool { return e.ID == id })
	if i < 0 || runs[i].Lost() {
		return nil
	}
	this := runs[i]
	for _, e := range runs[i+1:] {
		if !e.Lost() && e.Scenario == this.Scenario && e.Lock == this.Lock && e.Guard == this.Guard && e.Backend == this.Backend {
			return &e.ID
		}
	}
	return nil
}
