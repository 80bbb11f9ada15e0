package locktest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/scenarios"
)

// drawn is a run as reports take it.
func drawn(res harness.Result, schedule string) report.Run {
	return report.Run{
		Meta: res.Meta, Judgement: res.Judgement, Events: res.Events, Exchanges: res.Exchanges, Samples: res.Samples, Schedule: schedule,
	}
}

// keep writes what was recorded of a run to the test's directory of artifacts, which it returns: a directory that
// lockbench report and lockbench check read, with the page and the schedule.
func keep(t *testing.T, run report.Run, s scenarios.Scenario) (string, error) {
	t.Helper()
	dir := t.ArtifactDir()
	var history, commands, page bytes.Buffer
	if err := histories.WriteJSONL(&history, run.Events); err != nil {
		return "", err
	}
	if err := histories.WriteExchanges(&commands, run.Exchanges); err != nil {
		return "", err
	}
	opt := html.Options{Files: []html.File{
		{Name: histories.EventsFile, Href: histories.EventsFile}, {Name: histories.CommandsFile, Href: histories.CommandsFile},
		{Name: histories.RunFile, Href: histories.RunFile}, {Name: histories.ResultsFile, Href: histories.ResultsFile},
	}}
	if err := html.Write(&page, run, opt); err != nil {
		return "", err
	}
	meta, err := json.MarshalIndent(run.Meta, "", "  ")
	if err != nil {
		return "", err
	}
	results, err := json.MarshalIndent(run.Judgement, "", "  ")
	if err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{
		histories.EventsFile: history.Bytes(), histories.CommandsFile: commands.Bytes(), histories.ReportFile: page.Bytes(),
		histories.RunFile: meta, histories.ResultsFile: results, s.Name + ".schedule": []byte(s.Text),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}
