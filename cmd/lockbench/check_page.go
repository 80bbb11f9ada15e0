package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/report"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/histories"
)

// page draws a history that was judged as run draws its own, if that is asked for. Judging may
// have held no events in memory, so the file is read once more.
func (f *checkFlags) page(path string, c report.Check) error {
	if f.html == "" {
		return nil
	}
	file, err := histories.ReadFile(path, f.lenient)
	if err != nil {
		return err
	}
	if len(file.Events) != c.Count {
		return fmt.Errorf("cannot draw %s: it has %d events, and had %d when it was judged; --html needs a file that can be read twice",
			c.File, len(file.Events), c.Count)
	}
	r := report.Run{Meta: histories.Meta{Scenario: filepath.Base(path)}}
	var notices []string
	if file.Meta != nil {
		var damage error
		if r, damage = report.Load(path); damage != nil && len(c.Skipped) == 0 {
			notices = append(notices, "damaged, and drawn as far as it is sound: "+damage.Error())
		}
	}
	const most = 5
	for _, s := range c.Skipped[:min(len(c.Skipped), most)] {
		notices = append(notices, "left out: "+s)
	}
	if more := len(c.Skipped) - most; more > 0 {
		notices = append(notices, fmt.Sprintf("left out: %d more lines", more))
	}
	r.Events, r.Judgement = file.Events, judgedAlone(c.Report)
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

// judgedAlone is a report that is set against no expectation.
func judgedAlone(r checker.Report) checker.Judgement {
	return checker.Judgement{Schema: checker.JudgementSchema, Report: r, Expected: []checker.Judged{}, Survivors: []string{}}
}
