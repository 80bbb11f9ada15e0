package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
)

// TestFailedRunHasItsPage draws what is known of a run in which the harness failed.
func TestFailedRunHasItsPage(t *testing.T) {
	r := report.Run{Dir: t.TempDir()}
	failed := errors.New("the replica did not answer")
	if err := keepFailed(&r, failed, language.Language{}); !errors.Is(err, failed) || strings.Contains(err.Error(), "not drawn") {
		t.Errorf("error %v, want %v alone", err, failed)
	}
	page, err := os.ReadFile(filepath.Join(r.Dir, histories.ReportFile))
	if err != nil || !strings.Contains(string(page), failed.Error()) {
		t.Errorf("the page says nothing of the failure: %v", err)
	}
}

// TestUndrawnPageIsTold keeps where no page can be.
func TestUndrawnPageIsTold(t *testing.T) {
	r := report.Run{Dir: filepath.Join(t.TempDir(), "file")}
	if err := os.WriteFile(r.Dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := keepPage(&r, language.Language{})
	if err == nil || !strings.Contains(err.Error(), "the history is kept in "+r.Dir) || r.Page != "" {
		t.Errorf("error %v, page %q", err, r.Page)
	}
	if err := keepPage(&report.Run{}, language.Language{}); err != nil {
		t.Errorf("of a run that is not kept: %v", err)
	}
	r.Dir = filepath.Join(t.TempDir(), "gone")
	if err := keepPage(&r, language.Language{}); err != nil || r.Page != "" {
		t.Errorf("of a run that was removed meanwhile: page %q, %v", r.Page, err)
	}
}
