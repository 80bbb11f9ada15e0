package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
)

// TestRedrawnSchedule: the page of a schedule's run, drawn again, is the page that the run had: with the schedule, what waited for what, and the run
// of a lock that keeps what is broken. What was kept of the schedule and is damaged is told.
func TestRedrawnSchedule(t *testing.T) {
	store := t.TempDir()
	command := func(want int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), args, &stdout, &stderr); code != want {
			t.Fatalf("%q: exit code %d, want %d:\n%s%s", args, code, want, stdout.String(), stderr.String())
		}
		return stderr.String()
	}
	command(0, "run", "../../internal/explore/found/setnx-px-del.schedule", "--out", store)
	kept, err := filepath.Glob(filepath.Join(store, "*", "*", histories.ScheduleFile))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no %s in the store: %v", histories.ScheduleFile, err)
	}
	dir := filepath.Dir(kept[0])
	page := filepath.Join(dir, histories.ReportFile)
	want, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(want), "lockbench schedule 1") {
		t.Fatalf("the page has no schedule: %v", err)
	}
	if told := command(0, "report", dir); told != "" {
		t.Errorf("it tells of damage: %s", told)
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("drawn again the page is another one (%d bytes, and before %d): %v", len(got), len(want), err)
	}
	for _, damaged := range []string{"{", `{"schedule": "lockbench schedule 1\nclients"}`, `{"schedule": "lockbench schedule 1\nclients 1\nA acquire", "gates": [{"event": 100000}]}`} {
		if err := os.WriteFile(kept[0], []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if told := command(0, "report", dir); !strings.Contains(told, histories.ScheduleFile) {
			t.Errorf("%s is damaged, and nothing is told: %q", damaged, told)
		}
	}
}
