package harness

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// Judged is a history that was read from a file and judged.
type Judged struct {
	histories.File                         // Events are nil
	Count          int                     // of events
	Cited          map[int]histories.Event // those that the report's witnesses name
	Drawn          []histories.Event       // what there is to draw of violations: see excerpt
	Model          checker.Model           // that it was judged as; empty: a lock as lockbench records it
	Calls          checker.Census          // what its clients call
	Report         checker.Report
	// Unread is why the commands beside the history were no witness, though there are some; nil: they were, or
	// there are none.
	Unread error
}

// ByCalls stands for the model that the calls of a history tell, or for none if they do not.
const ByCalls checker.Model = "by-calls"

// Judging says how to judge a file.
type Judging struct {
	Lenient    bool               // what is not sound is left out
	Model      checker.Model      // empty: a lock
	Properties []checker.Property // nil: all
	Thorough   bool               // see checker.Options
	Locks      locks.Catalogue    // optional: see WithTerms
	// Watch, if it is not nil, is told how many bytes of the file have been read for the first time.
	// The size is 0 if the file has none.
	Watch func(read, size int64)
}

// JudgeFile reads a history as histories.ReadFile does and judges it as Judge does, or by
// linearizability if there is a model. Judged.Calls tells whether the history can be one of
// the model at all; that is no error here. Where lines were left out, the report says what is
// certain all the same.
//
// The events of a history of a lock are not held in memory: see checker.Stream. What the witnesses name is
// kept with the report: the calls of a violation, and the faults meanwhile.
func JudgeFile(ctx context.Context, path string, how Judging) (Judged, error) {
	var j Judged
	var err error
	if how.Model == "" || how.Model == ByCalls {
		err = j.stream(ctx, path, how)
	} else {
		err = j.whole(ctx, path, how)
	}
	if err != nil {
		return j, err
	}
	j.Report = j.Report.WithGaps(j.gaps(), j.Count)
	if len(how.Properties) > 0 {
		j.Report = j.Report.Only(how.Properties...)
	}
	return j, nil
}

// gaps are the indexes of events before which lines were left out; Count for those behind the
// last event. Rows of calls are in any order, and so what was left out of them was anywhere.
func (j *Judged) gaps() []int {
	var gaps []int
	for _, s := range j.Skipped {
		if j.Format == histories.CSV || j.Format == histories.Calls {
			gaps = append(gaps, checker.Anywhere)
		} else {
			gaps = append(gaps, s.Sound)
		}
	}
	if j.Cut() {
		gaps = append(gaps, j.Count)
	}
	return gaps
}

// Cut reports whether the history of a run lacks its end: the run was killed, or the file has lost
// something since.
func (j *Judged) Cut() bool {
	return j.Meta != nil && (j.Meta.Phase == histories.PhaseRunning || j.Count < j.Meta.Events)
}

// commandsBeside are the commands that were kept with a history; none if none were. No verdict needs them, so
// that the error is to be told and no more.
func commandsBeside(path string) ([]histories.Exchange, error) {
	if path == histories.Stdin {
		return nil, nil
	}
	name := CommandsBeside(path)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	return histories.ReadExchanges(f, name)
}

// CommandsBeside is the file with the commands of a run directory, or of a history.
func CommandsBeside(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	return filepath.Join(path, histories.CommandsFile)
}

// whole judges a history of a model.
func (j *Judged) whole(ctx context.Context, path string, how Judging) error {
	var events []histories.Event
	var err error
	j.File, err = histories.EachEvent(path, how.Lenient, how.Watch, func(guess int, e histories.Event) error {
		if events == nil {
			events = make([]histories.Event, 0, guess)
		}
		events = append(events, e)
		return nil
	})
	if err != nil {
		return err
	}
	j.Count = len(events)
	for i := range events {
		j.Calls.Add(&events[i])
	}
	j.as(ctx, how.Model, events)
	return nil
}

// as judges the events as those of a model.
func (j *Judged) as(ctx context.Context, model checker.Model, events []histories.Event) {
	j.Model, j.Report = model, judgeAs(ctx, events, model)
	j.Cited = make(map[int]histories.Event)
	for _, i := range cited(j.Report) {
		if i < len(events) {
			j.Cited[i] = events[i]
		}
	}
	j.Drawn = excerptOf(j.Report).of(events)
}

// stream judges a history of a lock. As long as it may be one of a model its events are kept, in case it is.
func (j *Judged) stream(ctx context.Context, path string, how Judging) error {
	meta, err := histories.MetaOf(path)
	if err != nil {
		return err
	}
	opt := judgeOptions(WithTerms(meta, how.Locks), how.Properties)
	opt.Thorough = how.Thorough
	if meta != nil {
		commands, unread := commandsBeside(path)
		if j.Unread = unread; unread == nil {
			opt.Commands = witness(meta.Terms, commands)
		}
	}
	s := checker.NewStream(ctx, opt)
	faults := false
	var kept []histories.Event
	j.File, err = histories.EachEvent(path, how.Lenient, how.Watch, func(_ int, e histories.Event) error {
		j.Count++
		j.Calls.Add(&e)
		faults = faults || beginsFault(&e)
		if kept = append(kept, e); how.Model == "" || j.Calls.OfNoModel() {
			kept = nil
		}
		return errors.Join(interrupted(ctx, j.Count), s.Add(e))
	})
	if err != nil {
		return err
	}
	if told := j.Calls.Model(); how.Model == ByCalls && told != "" {
		j.as(ctx, told, kept)
		return nil
	}
	j.Report = s.Check(j.gaps(), faults)
	j.cite()
	return nil
}

// cite takes the events that the report has kept.
func (j *Judged) cite() {
	j.Cited = make(map[int]histories.Event)
	wanted, draw := cited(j.Report), excerptOf(j.Report)
	known := make(map[int]histories.Event)
	for _, res := range j.Report.Results {
		for _, e := range res.Events {
			known[e.Index] = e
		}
	}
	for _, i := range slices.Sorted(maps.Keys(known)) {
		if slices.Contains(wanted, i) {
			j.Cited[i] = known[i]
		}
		if draw.wants(known[i]) {
			j.Drawn = append(j.Drawn, known[i])
		}
	}
}

// interrupted asks a context now and then.
func interrupted(ctx context.Context, events int) error {
	if events%4096 != 0 {
		return nil
	}
	return context.Cause(ctx)
}

// cited are the events that a report's witnesses name.
func cited(r checker.Report) []int {
	var all []int
	for _, res := range r.Results {
		all = append(all, res.Witness...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
