// Package serve shows a store of runs in a browser: lists them, serves their files and
// reports, compares two of them, and draws which lock held under which scenario. It only
// reads, and nothing but what is below the store's directory.
//
// What is in a store is hostile: it may come from somebody else, be damaged, huge, half
// written or gone a moment later. Strings are escaped, files are bounded or streamed, links
// that lead out of a run are not followed, and a report is shown in a sandbox.
package serve

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

//go:embed pages
var pages embed.FS

// Schema is the version of the JSON that ?format=json asks for.
const Schema = 1

// Options say what is served and how. Store, Draw and Now must be set.
type Options struct {
	Store string // directory that lockbench run --out wrote
	// Draw writes a run as one self-contained page of HTML, for runs that have no
	// report.html. It may be called with what is left of a run that was killed.
	Draw func(io.Writer, report.Run) error
	Now  func() time.Time
	// Loopback says that only this machine can connect. Requests for any other host than
	// localhost are then refused: a page of somebody else's could have sent them.
	Loopback bool
}

// A server holds no request's state but the index of runs and the last report drawn.
type server struct {
	opt     Options
	store   store
	index   index
	artist  artist
	readers turns // of what is large
	pages   *template.Template
}

// New returns the handler of all pages. An error says that the store is none.
func New(opt Options) (http.Handler, error) {
	if opt.Store == "" || opt.Draw == nil || opt.Now == nil {
		return nil, errors.New("serve.Options: Store, Draw and Now must be set")
	}
	if err := check(opt.Store); err != nil {
		return nil, err
	}
	t, err := template.New("").Funcs(functions()).ParseFS(pages, "pages/*.html")
	if err != nil {
		return nil, err
	}
	s := &server{opt: opt, store: store{opt.Store}, pages: t}
	s.index = index{store: s.store, now: opt.Now}
	s.artist, s.readers = newArtist(opt.Draw), newTurns(2)
	mux := http.NewServeMux()
	for pattern, page := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/{$}":                                 s.list,
		"/runs/{$}":                            all,
		"/matrix":                              s.matrix,
		"/compare":                             s.compare,
		"/runs/{scenario}/{run}":               s.run,
		"/runs/{scenario}/{run}/{$}":           s.run,
		"/runs/{scenario}/{run}/details":       s.details,
		"/runs/{scenario}/{run}/" + reportFile: s.report,
		"/runs/{scenario}/{run}/{file...}":     s.file,
		"/style.css":                           style,
		"/":                                    nowhere,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := page(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	return s.guarded(mux), nil
}

// check returns what is wrong with a directory that is to be served.
func check(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		if _, err := os.Lstat(dir + "/" + histories.RunFile); err == nil {
			return fmt.Errorf("%s is a run; want the store that it is in, which has <scenario>/<run> below it", dir)
		}
		var f *os.File
		if f, err = os.Open(dir); err == nil {
			return f.Close()
		}
	}
	if err == nil {
		err = errors.New("it is a file")
	}
	return fmt.Errorf("cannot serve %s: %w; want the directory that lockbench run --out wrote runs into", dir, cause(err))
}

// A pageError is told to the reader with its status.
type pageError struct {
	status int
	text   string
}

func (e *pageError) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &pageError{status, fmt.Sprintf(format, args...)}
}

// all leads from a run, which links to what is above it, to the list of all.
func all(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/", http.StatusFound)
	return nil
}

func nowhere(_ http.ResponseWriter, r *http.Request) error {
	return refuse(http.StatusNotFound, "There is no page %s.", clean(r.URL.Path, 200))
}

func style(w http.ResponseWriter, r *http.Request) error {
	css, err := pages.ReadFile("pages/style.css")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(css))
	return nil
}
