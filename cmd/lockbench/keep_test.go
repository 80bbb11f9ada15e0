package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
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

// TestKeptPageLeadsOn checks that the page of a kept run leads to its store and to a proof of its violations, and one elsewhere not to the store.
func TestKeptPageLeadsOn(t *testing.T) {
	r := report.Run{Dir: t.TempDir()}
	r.Results = []checker.Result{{Property: checker.StrictExclusion, Verdict: checker.Fail}}
	opt := pageOptions(r, r.Dir, nil)
	if want := "lockbench verify . certificate.json"; opt.Store != "../../" || len(opt.Proof) != 2 || opt.Proof[1] != want {
		t.Errorf("the store is %q and the proof %q, want ../../ and %q", opt.Store, opt.Proof, want)
	}
	if opt := pageOptions(r, t.TempDir(), nil); opt.Store != "" {
		t.Errorf("the page of a run lies elsewhere, and its store is %q", opt.Store)
	}
	r.HarnessErrors = []string{"two engines disagree"}
	if opt := pageOptions(r, r.Dir, nil); len(opt.Proof) != 0 {
		t.Errorf("what lockbench itself got wrong is proven by %q", opt.Proof)
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
