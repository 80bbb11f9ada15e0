package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
)

// wholePage is how many events a page is drawn of at most: each takes some 3 kB of memory. Of a longer history of a lock the
// page shows what judging has kept, which is what its violations are about.
const wholePage = 200_000

// page draws a history that was judged as run draws its own, if that is asked for.
func (f *checkFlags) page(path string, c report.Check) error {
	if f.html == "" {
		return nil
	}
	r, notices, err := f.drawn(path, c)
	if err != nil {
		return err
	}
	const most = 5
	for _, s := range c.Skipped[:min(len(c.Skipped), most)] {
		notices = append(notices, "left out: "+s)
	}
	if more := len(c.Skipped) - most; more > 0 {
		notices = append(notices, fmt.Sprintf("left out: %d more lines", more))
	}
	r.Judgement = judgedAlone(c.Report)
	var b bytes.Buffer
	opt := pageOptions(r, filepath.Dir(f.html), notices)
	if f.model != modelLock {
		opt.Model = checker.Model(f.model)
	}
	if err := html.Write(&b, r, opt); err != nil {
		return err
	}
	return gate.WriteFile(f.html, b.Bytes())
}

// drawn is what a page shows of a history. Judging may have held no events in memory, so that those of a short one are
// read once more.
func (f *checkFlags) drawn(path string, c report.Check) (r report.Run, notices []string, err error) {
	r.Meta.Scenario = filepath.Base(path)
	if c.Count > f.whole && f.model == modelLock {
		if c.Run != nil {
			r.Meta, r.Dir = *c.Run, path
		}
		r.Events, r.Total = c.Kept(), c.Count
		return r, []string{fmt.Sprintf("The history has %d events. A page of all is drawn up to %d: this one shows those that its violations are about, and neither plots nor what porcupine draws.",
			c.Count, f.whole)}, nil
	}
	file, err := histories.ReadFile(path, f.lenient)
	if err != nil {
		return r, nil, err
	}
	if len(file.Events) != c.Count {
		return r, nil, fmt.Errorf("cannot draw %s: it has %d events, and had %d when it was judged; --html needs a file that can be read twice",
			c.File, len(file.Events), c.Count)
	}
	if file.Meta != nil {
		var damage error
		if r, damage = report.Load(path); damage != nil && len(c.Skipped) == 0 {
			notices = append(notices, "damaged, and drawn as far as it is sound: "+damage.Error())
		}
	}
	r.Events = file.Events
	return r, notices, nil
}

// judgedAlone is a report that is set against no expectation.
func judgedAlone(r checker.Report) checker.Judgement {
	return checker.Judgement{Schema: checker.JudgementSchema, Report: r, Expected: []checker.Judged{}, Survivors: []string{}}
}
