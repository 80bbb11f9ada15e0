package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
)

// keepPage draws a run that is kept into its directory, and notes the page in it.
func keepPage(r *report.Run, in language.Language) error {
	if r.Dir == "" {
		return nil
	}
	var b bytes.Buffer
	err := drawPage(&b, *r, r.Dir, nil, in)
	if err == nil {
		err = histories.At(r.Dir).WriteFile(histories.ReportFile, b.Bytes())
	}
	if _, gone := os.Stat(r.Dir); errors.Is(gone, fs.ErrNotExist) {
		return nil // the run is done, and somebody has removed it since, such as by lockbench prune
	}
	if err != nil {
		return fmt.Errorf("the page of the run was not drawn: %w; the history is kept in %s", err, r.Dir)
	}
	r.Page = filepath.Join(r.Dir, histories.ReportFile)
	return nil
}

// keepFailed draws what is known of a run in which the harness failed, with err.
func keepFailed(r *report.Run, err error, in language.Language) error {
	r.Error = err.Error()
	return errors.Join(err, keepPage(r, in))
}

// drawPage draws the page of a run that will lie in the directory at, with links to the run's files.
func drawPage(w io.Writer, r report.Run, at string, notices []string, in language.Language) error {
	opt := pageOptions(r, at, notices)
	opt.Language = in
	return html.Write(w, r, opt)
}

// pageOptions are what the page of a run in a directory is told beside the run.
func pageOptions(r report.Run, at string, notices []string) html.Options {
	opt := html.Options{Notices: notices, Plots: plot.Draw}
	if r.Dir != "" {
		if at == r.Dir {
			opt.Store = "../../"
		}
		if len(r.HarnessErrors) == 0 && slices.ContainsFunc(r.Results, func(res checker.Result) bool { return res.Verdict == checker.Fail }) {
			opt.Proof = []string{"lockbench check . --certificate " + histories.CertificateFile, "lockbench verify . " + histories.CertificateFile}
		}
		for _, name := range []string{
			histories.EventsFile, histories.CommandsFile, histories.RunFile, histories.ResultsFile, histories.SamplesFile, histories.ScheduleFile, histories.CertificateFile, "logs",
		} {
			file := filepath.Join(r.Dir, name)
			if _, err := os.Stat(file); err != nil {
				continue
			}
			if href, err := filepath.Rel(at, file); err == nil {
				opt.Files = append(opt.Files, html.File{Name: name, Href: filepath.ToSlash(href)})
			}
		}
	}
	return opt
}
