package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// issue writes the finding of a run as Markdown, for those who maintain its lock. With a run that has none it does not go together.
func (f *reportFlags) issue(r report.Run, stdout io.Writer) error {
	var b bytes.Buffer
	err := report.Issue(&b, r, originOf(r))
	switch {
	case errors.Is(err, report.ErrNoFinding):
		return &exitError{code: exitUnfit, err: err}
	case err != nil:
		return failure(err)
	}
	return f.write(b.Bytes(), f.out, stdout)
}

// originOf is what is known of a run's lock and of its steps beside its record.
func originOf(r report.Run) (from report.Origin) {
	if lock, err := libraries.Catalogue().Find(r.Lock); err == nil && !otherWorker(r) {
		from.Library = cmp.Or(lock.Library(), "none, the lock is of lockbench's catalogue (docs/locks.md)")
	}
	if from.Steps = stepsOf(r); from.Steps != "" && r.Schedule == "" && r.Version != buildVersion() {
		from.Remark = fmt.Sprintf("The steps are those of lockbench %s, and the run is of another version.", buildVersion())
	}
	return from
}

// otherWorker reports whether the clients of a run were processes of a program of the user's.
func otherWorker(r report.Run) bool {
	words := strings.Fields(r.Command)
	at := slices.Index(words, "--worker")
	return at >= 0 && at+1 < len(words) && words[at+1] != workerSelf
}

// stepsOf is the text of the schedule that a run played, of a file or of a scenario, with its lock, and without what is only for people.
// Empty: it is not known.
func stepsOf(r report.Run) string {
	played, err := scenarios.Parse(r.Schedule)
	if r.Schedule == "" {
		if played, err = scenarios.Find(r.Scenario); err == nil && played.ID != r.Pitfall {
			return "" // it was random load, or the steps were of a file that is not kept
		}
	}
	if err != nil {
		return ""
	}
	s := played.Script.Schedule
	for _, remedy := range played.Remedies {
		if remedy.Title == r.Title {
			s.Steps = remedy.Script.Steps
		}
	}
	s.ID, s.Name, s.Title, s.Source, s.Why, s.Gaps, s.Remedies, s.Expect = "", "", "", "", "", nil, nil, nil
	s.Lock, s.Guard, s.Seed = r.Lock, r.Guard, r.Seed
	if r.Guard == resource.None.String() {
		s.Guard = ""
	}
	return s.String()
}
