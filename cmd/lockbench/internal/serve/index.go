package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

const (
	// mostRuns bounds the memory of the index.
	mostRuns = 50_000
	// fresh is how old a look at the store may be before the next request looks again.
	fresh = 2 * time.Second
)

// An entry is what the list tells of a run. Its strings are clean.
type entry struct {
	ID       runID     `json:"id"`
	Scenario string    `json:"scenario"`
	Pitfall  string    `json:"pitfall,omitempty"`
	Title    string    `json:"title,omitempty"`
	Lock     string    `json:"lock"`
	Guard    string    `json:"guard"`
	Backend  string    `json:"backend"`
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Phase    string    `json:"phase"`
	Verdict  string    `json:"verdict,omitempty"` // empty: not judged
	Outcome  string    `json:"outcome,omitempty"`
	Violated []string  `json:"violated,omitempty"` // the properties, in the order of reports
	Damage   string    `json:"damage,omitempty"`   // why not all of this is known

	text string // what a search looks through, in lower case
}

// Lost reports whether nothing is known of the run but that it is there.
func (e *entry) Lost() bool { return e.Phase == "" }

// Violation is the first property that was violated, and how many more were: "mutual exclusion +2".
func (e *entry) Violation() string {
	switch n := len(e.Violated); n {
	case 0:
		return ""
	case 1:
		return report.Label(checker.Property(e.Violated[0]))
	default:
		return fmt.Sprintf("%s +%d", report.Label(checker.Property(e.Violated[0])), n-1)
	}
}

// A snapshot is one look at the store.
type snapshot struct {
	runs []*entry // newest first
	more bool     // there are runs beyond mostRuns
	at   time.Time
}

// An index knows all runs. It looks again when its knowledge is not fresh, and then reads
// only the files that are not the same as before.
type index struct {
	store store
	now   func() time.Time

	mu    sync.Mutex
	last  *snapshot
	known map[runID]known
}

// known is an entry and the files that it was read from; nil for one that was not there.
type known struct {
	run, results fs.FileInfo
	entry        *entry
}

// runs returns the runs as they are now, or were a moment ago. Nobody may change them.
func (x *index) runs() (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := x.now(); x.last != nil && now.Sub(x.last.at) < fresh && !now.Before(x.last.at) {
		return x.last, nil
	}
	root, err := x.store.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	ids, more := find(root)
	found := make([]known, len(ids))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0) + 1
	for first := range workers {
		wg.Go(func() {
			for i := first; i < len(ids); i += workers {
				found[i] = look(root, ids[i], x.known[ids[i]])
			}
		})
	}
	wg.Wait()
	x.known = make(map[runID]known, len(ids))
	x.last = &snapshot{more: more, at: x.now()}
	for i, k := range found {
		if k.entry == nil {
			continue
		}
		x.known[ids[i]] = k
		x.last.runs = append(x.last.runs, k.entry)
	}
	slices.SortFunc(x.last.runs, func(a, b *entry) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(b.ID.scenario, a.ID.scenario), strings.Compare(b.ID.name, a.ID.name))
	})
	return x.last, nil
}

// find returns the directories that may be runs. Links, such as latest, are left out: what
// they point to is there under its own name. What cannot be read is passed over, for it may
// just be removed.
func find(root *os.Root) (ids []runID, more bool) {
	directories(root, ".", func(scenario string) bool {
		directories(root, scenario, func(name string) bool {
			if len(ids) == mostRuns {
				more = true
				return false
			}
			ids = append(ids, runID{scenario, name})
			return true
		})
		return !more
	})
	return ids, more
}

// directories calls each with the names below a directory until it returns false.
func directories(root *os.Root, dir string, each func(string) bool) {
	f, err := root.Open(dir)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	for {
		part, err := f.ReadDir(1000)
		for _, d := range part {
			if d.IsDir() && plainName(d.Name()) && !each(d.Name()) {
				return
			}
		}
		if err != nil || len(part) == 0 {
			return
		}
	}
}

// look returns what is known of a run: the same as before if its files are. A directory
// without run.json is no run.
func look(root *os.Root, id runID, before known) known {
	dir, err := root.OpenRoot(id.String())
	if err != nil {
		return known{}
	}
	defer dir.Close()
	if before.entry != nil && same(dir, histories.RunFile, before.run) && same(dir, histories.ResultsFile, before.results) {
		return before
	}
	return read(dir, id)
}

// same reports whether a file is the one that it was: lockbench puts a new one in the place of
// the old, which two instants of a coarse clock would not tell apart.
func same(dir *os.Root, name string, before fs.FileInfo) bool {
	info, err := dir.Stat(name)
	if err != nil || before == nil {
		return before == nil && errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(info, before) && info.Size() == before.Size() && info.ModTime().Equal(before.ModTime())
}

// read reads a run. Of results.json it keeps the verdict, the outcome and what was violated alone.
func read(dir *os.Root, id runID) known {
	k := known{entry: &entry{ID: id, Scenario: id.scenario, Started: startOf(dir, id.name)}}
	m, info, err := readMeta(dir)
	k.run = info
	if errors.Is(err, fs.ErrNotExist) {
		return known{}
	}
	if err != nil {
		k.entry.Damage = clean(err.Error(), longestName)
		k.entry.index("")
		return k
	}
	e := k.entry
	e.Scenario, e.Pitfall, e.Title = clean(m.Scenario, longestName), clean(m.Pitfall, longestName), clean(m.Title, longestName)
	e.Lock, e.Guard, e.Backend = clean(m.Lock, longestName), clean(m.Guard, longestName), clean(m.Backend, longestName)
	if t := m.Started.UTC(); !t.IsZero() && 0 < t.Year() && t.Year() < 10_000 { // as JSON can tell it
		e.Started = t
	}
	e.Seed, e.Phase = m.Seed, cmp.Or(clean(string(m.Phase), longestName), "unknown")
	var head struct {
		Schema  int             `json:"schema"`
		Verdict checker.Verdict `json:"verdict"`
		Outcome checker.Outcome `json:"outcome"`
		Results []struct {
			Property checker.Property `json:"property"`
			Verdict  checker.Verdict  `json:"verdict"`
		} `json:"results"`
	}
	k.results, err = readJSON(dir, histories.ResultsFile, mostResults, &head)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		e.Damage = clean(err.Error(), longestName)
	case head.Schema != checker.JudgementSchema:
		e.Damage = otherResults(head.Schema).Error()
	default:
		e.Verdict, e.Outcome = head.Verdict.String(), head.Outcome.String()
		for _, r := range head.Results {
			if r.Verdict == checker.Fail {
				e.Violated = append(e.Violated, clean(string(r.Property), longestName))
			}
		}
	}
	e.index(clean(strings.Join([]string{m.Workload, m.Server, m.Topology, m.Version, m.Command}, "\n"), 4*longestName))
	return k
}

// index makes the text that a search looks through.
func (e *entry) index(more string) {
	e.text = strings.ToLower(strings.Join([]string{
		e.ID.String(), e.Scenario, e.Pitfall, e.Title, e.Lock, e.Guard, e.Backend, "seed " + strconv.FormatUint(e.Seed, 10), e.Damage,
		strings.ReplaceAll(strings.Join(e.Violated, "\n"), "-", " "), more,
	}, "\n"))
}

// startOf tells when a run of which nothing else is known began: by its name, or else by
// when its directory was changed.
func startOf(dir *os.Root, name string) time.Time {
	stamp, _, _ := strings.Cut(name, "-")
	if t, err := time.Parse("20060102T150405.000Z", stamp); err == nil {
		return t
	}
	if info, err := dir.Stat("."); err == nil {
		return info.ModTime().UTC()
	}
	return time.Time{}
}
