package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema is the version of the files in a run directory.
const Schema = 1

// The files of a run directory.
const (
	RunFile      = "run.json"       // a Meta
	EventsFile   = "history.jsonl"  // the events, one per line
	ResultsFile  = "results.json"   // the judgement, from PhaseChecked on
	CommandsFile = "commands.jsonl" // the exchanges, if they were kept
	SamplesFile  = "samples.jsonl"  // what processes took of the machine; not in virtual time
	ReportFile   = "report.html"    // the page that draws the run
	ScheduleFile = "schedule.json"  // the user's own schedule that was played, and what waited for what
	// CertificateFile is where the page of a run tells its reader to put a certificate of the verdicts.
	CertificateFile = "certificate.json"
)

// Phase says how far a run came.
type Phase string

// The phases of a run, in order. A run that was killed stays in the one before.
const (
	PhaseRunning  Phase = "running"  // the history may stop anywhere
	PhaseRecorded Phase = "recorded" // the history is complete and on disk
	PhaseChecked  Phase = "checked"  // the results are, too
)

// Meta describes a run.
type Meta struct {
	Schema     int           `json:"schema"`
	Scenario   string        `json:"scenario"`
	Pitfall    string        `json:"pitfall,omitempty"`
	Title      string        `json:"title,omitempty"`
	Workload   string        `json:"workload,omitempty"`
	Lock       string        `json:"lock,omitempty"`
	Guard      string        `json:"guard,omitempty"`
	Backend    string        `json:"backend,omitempty"`
	Server     string        `json:"server,omitempty"` // name and version of the servers, such as Valkey 8.1.1, if they are real
	Topology   string        `json:"topology,omitempty"`
	Seed       uint64        `json:"seed"`
	Clients    int           `json:"clients,omitempty"`
	Keys       int           `json:"keys,omitempty"` // that clients choose from, if more than one
	Rate       float64       `json:"rate,omitempty"` // rounds that begin per second, of all clients together
	TTL        time.Duration `json:"ttl,omitempty"`  // nanoseconds
	Started    time.Time     `json:"started"`        // wall clock, UTC
	Phase      Phase         `json:"phase"`
	Events     int           `json:"events,omitempty"`  // of the whole history, from PhaseRecorded on
	Version    string        `json:"version,omitempty"` // of lockbench
	Replayable bool          `json:"replayable"`        // the same seed gives the same bytes
	Notes      []string      `json:"notes,omitempty"`
	Usage      []Usage       `json:"usage,omitempty"`   // what the samples say together
	Command    string        `json:"command,omitempty"` // how to replay it
	Terms      *Terms        `json:"terms,omitempty"`   // nil: an earlier version wrote it, or nobody knows
}

// Terms are what a run is judged by beside its events, so that whoever reads it judges alike.
type Terms struct {
	Masters       int                `json:"masters"`                  // independent ones that the lock has
	Tolerance     time.Duration      `json:"tolerance,omitempty"`      // by how much longer than its TTL a key may live
	Poll          time.Duration      `json:"poll,omitempty"`           // shortest interval between two tries of one waiting client
	SilentRelease bool               `json:"silent_release,omitempty"` // a release that succeeds does not say whose lock it was
	Overtaking    int                `json:"overtaking,omitempty"`     // how often one client may overtake a waiting one; 0: not judged
	Threads       int                `json:"threads,omitempty"`        // how many clients, from A on, are threads of one process
	Kept          map[string][]Place `json:"kept"`                     // where the servers keep the lock on each key
	// Witness says that the commands of the run were kept in whole, and each by its own client, so that
	// they may be a witness of the judges.
	Witness bool `json:"witness,omitempty"`
}

// A Place is where a lock server keeps something: a key of one of its databases.
type Place struct {
	DB  int    `json:"db,omitempty"`
	Key string `json:"key"`
}

// A Dir is a run directory that is being written: store/<scenario>/<time>-<seed>.
// Its methods are not safe for concurrent use.
type Dir struct {
	path    string
	history *os.File // nil once closed
	held    *os.File // the directory itself, so that Remove leaves it alone; nil: not held, or not any more
	phase   Phase
	made    []string // by Create, above path; the deepest first
}

// Create makes a new directory for a run below root, with run.json in PhaseRunning
// and an empty history. It sets meta's Schema and Phase. meta.Started names the directory
// and must be set.
func Create(root string, meta Meta) (*Dir, error) {
	if meta.Started.IsZero() {
		return nil, errors.New("cannot create run directory: Meta.Started is not set")
	}
	scenario := filepath.Join(root, safeName(meta.Scenario))
	made := unmade(scenario)
	if err := os.MkdirAll(scenario, 0o755); err != nil {
		return nil, createError(root, err)
	}
	path, err := mkdirNew(scenario, runName(meta))
	if err != nil {
		return nil, createError(root, err)
	}
	held, _ := hold(path) // where nobody can hold a directory, Remove leaves what has no verdict
	history, err := os.OpenFile(filepath.Join(path, EventsFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	d := &Dir{path: path, history: history, held: held, made: made}
	if err != nil {
		return nil, errors.Join(createError(root, err), d.Close())
	}
	if err := d.enter(PhaseRunning, meta); err != nil {
		return nil, errors.Join(createError(root, err), d.Close())
	}
	return d, nil
}

// Path returns the directory.
func (d *Dir) Path() string { return d.path }

// HistoryFile returns the open history, to be appended to. Recorded closes it.
func (d *Dir) HistoryFile() *os.File { return d.history }

// Recorded makes the history durable, closes it and enters PhaseRecorded. Close the
// Recorder first.
func (d *Dir) Recorded(meta Meta) error {
	if d.history == nil {
		return fmt.Errorf("run directory %s: the history is closed already", d.path)
	}
	if err := errors.Join(d.history.Sync(), d.closeHistory()); err != nil {
		return fmt.Errorf("cannot complete the history: %w", err)
	}
	return d.enter(PhaseRecorded, meta)
}

// Checked writes results as JSON and then enters PhaseChecked.
func (d *Dir) Checked(meta Meta, results any) error {
	if d.phase != PhaseRecorded && d.phase != PhaseChecked {
		return fmt.Errorf("run directory %s is in phase %q, want %q: results belong to a complete history", d.path, d.phase, PhaseRecorded)
	}
	if err := d.writeJSON(ResultsFile, results); err != nil {
		return err
	}
	return d.enter(PhaseChecked, meta)
}

// WriteFile adds a file of the caller's to the directory, whole or not at all. The
// name has no separators and is none of lockbench's own, except CommandsFile,
// SamplesFile, ReportFile and ScheduleFile.
func (d *Dir) WriteFile(name string, data []byte) error {
	own := func(f string) bool { return strings.EqualFold(f, name) }
	if strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name) || name == "." ||
		slices.ContainsFunc([]string{RunFile, EventsFile, ResultsFile}, own) {
		return fmt.Errorf("cannot add %q to a run directory, want a plain file name other than %s, %s and %s",
			name, RunFile, EventsFile, ResultsFile)
	}
	return d.write(name, data)
}

// At returns a run directory that was written before, to which WriteFile adds files, and which Remove removes.
func At(path string) *Dir { return &Dir{path: path} }

// Close closes the history if it is open, and leaves the phase as it is: that of a
// run that was given up. Until then Remove leaves the directory alone. It may be called
// at any time.
func (d *Dir) Close() error {
	err := d.closeHistory()
	if d.held != nil {
		_ = d.held.Close() // read only: nothing can be lost
		d.held = nil
	}
	return err
}

func (d *Dir) closeHistory() error {
	if d.history == nil {
		return nil
	}
	err := d.history.Close()
	d.history = nil
	return err
}

func (d *Dir) enter(phase Phase, meta Meta) error {
	meta.Schema = Schema
	meta.Phase = phase
	meta.Started = meta.Started.UTC()
	if err := d.writeJSON(RunFile, meta); err != nil {
		return err
	}
	d.phase = phase
	return nil
}

func (d *Dir) writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", filepath.Join(d.path, name), err)
	}
	return d.write(name, append(data, '\n'))
}

// newPrefix begins the names of files that are about to replace others.
const newPrefix = ".new-"

// write replaces a file at once: a reader sees the old content or the new.
func (d *Dir) write(name string, data []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s: %w", filepath.Join(d.path, name), cause(err))
		}
	}()
	f, err := os.CreateTemp(d.path, newPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // best effort: the first error is the one to report
		}
	}()
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(d.path, name))
}

// Load reads a run directory, or what a link such as latest points to. A history
// that is damaged is returned up to the damage, with the error of ReadJSONL, or with a
// *CutError.
func Load(path string) (Meta, []Event, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return Meta{}, nil, fmt.Errorf("%s is a file, want a run directory such as store/<scenario>/%s", path, Latest)
	}
	meta, err := loadMeta(filepath.Join(path, RunFile))
	if err != nil {
		return Meta{}, nil, err
	}
	name := filepath.Join(path, EventsFile)
	f, err := os.Open(name)
	if err != nil {
		return meta, nil, fmt.Errorf("cannot read the history: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	events, err := ReadJSONL(f, name)
	if err == nil && len(events) < meta.Events {
		err = &CutError{File: name, Left: len(events), Events: meta.Events}
	}
	return meta, events, err
}

// CutError says that a history has lost its end.
type CutError struct {
	File         string
	Left, Events int // how many events it has, and how many were recorded
}

func (e *CutError) Error() string {
	return fmt.Sprintf("%s: it is cut: %d of %d events are left", e.File, e.Left, e.Events)
}

// A MetaError says that a file does not describe a run.
type MetaError struct {
	File string
	Err  error
}

func (e *MetaError) Error() string { return fmt.Sprintf("%s: %v", e.File, e.Err) }
func (e *MetaError) Unwrap() error { return e.Err }

func loadMeta(name string) (Meta, error) {
	var meta Meta
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return meta, fmt.Errorf("%w; want a run directory such as store/<scenario>/%s", err, Latest)
	}
	if err != nil {
		return meta, err
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return Meta{}, &MetaError{name, fmt.Errorf("%w; want the description of a run as lockbench writes it", err)}
	}
	if meta.Schema != Schema {
		return Meta{}, &MetaError{name, fmt.Errorf(`"schema" is %d, want %d: another version of lockbench (%q) wrote it`, meta.Schema, Schema, meta.Version)}
	}
	return meta, nil
}

func runName(meta Meta) string {
	return meta.Started.UTC().Format("20060102T150405.000Z") + "-" + strconv.FormatUint(meta.Seed, 10)
}

// mkdirNew makes a directory that did not exist: name, or name-2, name-3 and so on.
func mkdirNew(parent, name string) (string, error) {
	path := filepath.Join(parent, name)
	err := os.Mkdir(path, 0o755)
	for i := 2; errors.Is(err, fs.ErrExist); i++ {
		path = filepath.Join(parent, name+"-"+strconv.Itoa(i))
		err = os.Mkdir(path, 0o755)
	}
	return path, err
}

// safeName makes one file name of a scenario's name, whatever it contains.
func safeName(scenario string) string {
	const longest = 100
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, scenario)
	name = strings.TrimLeft(name[:min(len(name), longest)], ".")
	if name == "" {
		return "unnamed"
	}
	return name
}

func createError(root string, err error) error {
	return fmt.Errorf("cannot create run directory under %q: %w; choose another with --out", root, cause(err))
}

// cause strips the operation and path, which the message around it says better.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
