package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// The most that is read at once of a file.
const (
	mostMeta    = 1 << 20
	mostResults = 16 << 20
	mostLines   = 128 << 20 // of events, exchanges or samples, for a drawing
)

// A runID names a run by the two directories that it is in.
type runID struct{ scenario, name string }

func (id runID) String() string { return id.scenario + "/" + id.name }

// URL is the path of the run's pages, with a slash at its end.
func (id runID) URL() string { return "/runs/" + id.String() + "/" }

// MarshalText makes an id a string in JSON.
func (id runID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// Query is the id as the value of a parameter.
func (id runID) Query() string { return url.QueryEscape(id.String()) }

// parseID takes an id apart. Not every name that a file may have can be one of a run.
func parseID(s string) (runID, error) {
	scenario, name, _ := strings.Cut(s, "/")
	if !plainName(scenario) || !plainName(name) {
		return runID{}, refuse(http.StatusBadRequest, "%q is no run; want <scenario>/<run>, as in the list.", clean(s, 200))
	}
	return runID{scenario, name}, nil
}

// plainName reports whether a name is as lockbench names scenarios, runs and files: it has no
// separators and is not hidden.
func plainName(name string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return name != "" && len(name) <= 200 && name[0] != '.' && strings.Trim(name, characters) == "" && fs.ValidPath(name)
}

// A store is the directory of all runs. It is opened for each request, so that one that was
// removed and made again is seen.
type store struct{ dir string }

func (s store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "The store cannot be read: %v.", cause(err))
	}
	return root, nil
}

// openRun opens a run's directory. No link in it leads out of it.
func (s store) openRun(id runID) (*os.Root, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := root.OpenRoot(id.String())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(http.StatusNotFound, "There is no run %s; it may have been removed.", id)
	}
	if err != nil {
		return nil, refuse(http.StatusNotFound, "There is no run %s that can be read: %v.", id, cause(err))
	}
	return dir, nil
}

// openFile opens a regular file. It does not wait for the other end of a pipe.
func openFile(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		_ = f.Close() // read only: nothing can be lost
		return nil, nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	return f, info, nil
}

// readJSON reads a file of at most so many bytes into v.
func readJSON(dir *os.Root, name string, most int64, v any) (fs.FileInfo, error) {
	f, info, err := openFile(dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	if info.Size() > most {
		return info, tooLarge(name, info.Size(), most)
	}
	data, err := io.ReadAll(io.LimitReader(f, most)) // it may grow meanwhile
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return info, fmt.Errorf("%s: %w", name, err)
	}
	return info, nil
}

func tooLarge(name string, size, most int64) error {
	return fmt.Errorf("%s has %s, want at most %s", name, words.Bytes(size), words.Bytes(most))
}

func readMeta(dir *os.Root) (histories.Meta, fs.FileInfo, error) {
	var m histories.Meta
	info, err := readJSON(dir, histories.RunFile, mostMeta, &m)
	if err == nil && m.Schema != histories.Schema {
		err = fmt.Errorf("%s: \"schema\" is %d, want %d: another version of lockbench wrote it", histories.RunFile, m.Schema, histories.Schema)
	}
	return m, info, err
}

// readJudgement returns a Judgement that knows nothing if the run has none, and says so by
// judged.
func readJudgement(dir *os.Root) (j checker.Judgement, judged bool, err error) {
	none := checker.Judgement{Schema: checker.JudgementSchema, Expected: []checker.Judged{}, Survivors: []string{}}
	_, err = readJSON(dir, histories.ResultsFile, mostResults, &j)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, false, nil
	case err == nil && j.Schema != checker.JudgementSchema:
		err = otherResults(j.Schema)
	}
	if err != nil {
		return none, false, err
	}
	return j, true, nil
}

func otherResults(schema int) error {
	return fmt.Errorf("%s: \"schema\" is %d, want %d: another version of lockbench wrote it", histories.ResultsFile, schema, checker.JudgementSchema)
}

// cause strips operation and path: a path of this machine is nobody else's business, and
// the message around it says the rest.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
