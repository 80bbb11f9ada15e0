package histories

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// mustRemove removes a run, and checks why it is left; empty: it is not.
func mustRemove(t *testing.T, path, why string) {
	t.Helper()
	for _, ask := range []bool{true, false} {
		got, err := At(path).Remove(ask)
		if err != nil || got != why {
			t.Fatalf("ask %v: %q, %v; want %q", ask, got, err, why)
		}
		_, err = os.Stat(path)
		if gone := errors.Is(err, fs.ErrNotExist); gone != (why == "" && !ask) {
			t.Fatalf("ask %v: the run is gone: %v", ask, gone)
		}
	}
}

// A run is held from its beginning to its end, whatever its phase.
func TestRemoveLeavesWhatIsWritten(t *testing.T) {
	d := create(t, t.TempDir(), goldenMeta())
	mustRemove(t, d.Path(), errHeld.Error())
	if err := d.Recorded(goldenMeta()); err != nil {
		t.Fatal(err)
	}
	mustRemove(t, d.Path(), errHeld.Error())
	if err := errors.Join(d.Checked(goldenMeta(), nil), d.Publish(goldenMeta())); err != nil {
		t.Fatal(err)
	}
	mustRemove(t, d.Path(), errHeld.Error())
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mustRemove(t, d.Path(), "")
}

// What was given up, or killed, is written by nobody.
func TestRemoveWhatWasGivenUp(t *testing.T) {
	d := create(t, t.TempDir(), goldenMeta())
	if err := errors.Join(d.Close(), os.WriteFile(filepath.Join(d.Path(), newPrefix+"123"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	mustRemove(t, d.Path(), "")
}

func TestRemoveLeavesWhatIsNotOurs(t *testing.T) {
	d := create(t, t.TempDir(), goldenMeta())
	if err := errors.Join(publish(d, goldenMeta()), d.Close(), os.WriteFile(filepath.Join(d.Path(), "notes.txt"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	mustRemove(t, d.Path(), `"notes.txt" in it is not lockbench's`)
	if err := errors.Join(os.Remove(filepath.Join(d.Path(), "notes.txt")), os.WriteFile(filepath.Join(d.Path(), CertificateFile), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	mustRemove(t, d.Path(), "")
	other := t.TempDir()
	if why, err := At(other).Remove(false); err == nil {
		t.Errorf("a directory without a run: %q, no error", why)
	}
	if err := os.WriteFile(filepath.Join(other, RunFile), []byte(`{"scripts": {}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if why, err := At(other).Remove(false); err == nil {
		t.Errorf("another program's %s: %q, no error", RunFile, why)
	}
}

// The link latest leads to the newest run with a verdict that is left, and a scenario without runs goes.
func TestRemoveMovesLatest(t *testing.T) {
	root := t.TempDir()
	var runs []string
	for hour, verdict := range []bool{true, true, false, true, false} {
		meta := goldenMeta()
		meta.Started = meta.Started.Add(time.Duration(hour) * time.Hour)
		d := create(t, root, meta)
		if verdict {
			if err := publish(d, meta); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, d.Path())
	}
	scenario := filepath.Dir(runs[0])
	for _, step := range []struct{ remove, latest int }{{0, 3}, {3, 1}, {1, -1}, {2, -1}} {
		mustRemove(t, runs[step.remove], "")
		to, err := os.Readlink(filepath.Join(scenario, Latest))
		switch {
		case step.latest < 0 && !errors.Is(err, fs.ErrNotExist):
			t.Fatalf("after run %d is gone latest leads to %q, %v; want no link", step.remove, to, err)
		case step.latest >= 0 && to != filepath.Base(runs[step.latest]):
			t.Fatalf("after run %d is gone latest leads to %q, want %s", step.remove, to, runs[step.latest])
		}
	}
	mustRemove(t, runs[4], "")
	if _, err := os.Stat(scenario); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of a scenario without runs: %v, want that it is gone", err)
	}
}
