package histories

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// errHeld says that a directory is being written.
var errHeld = errors.New("it is being written")

// Remove removes the run directory, and the scenario's directory if no other run is left there. What must stay is left, and why is the
// reason: the run is being written, or somebody put a file of their own there. If ask is true nothing is removed, and why is the same. A
// directory without the description of a run is an error.
func (d *Dir) Remove(ask bool) (why string, err error) {
	path := d.path
	if _, err := loadMeta(filepath.Join(path, RunFile)); err != nil {
		return "", err
	}
	held, err := hold(path)
	if errors.Is(err, errHeld) {
		return errHeld.Error(), nil
	}
	if err == nil {
		defer func() { _ = held.Close() }() // read only: nothing can be lost
	}
	meta, loaded := loadMeta(filepath.Join(path, RunFile)) // it may just have ended
	if loaded != nil {
		return "", loaded
	}
	if err != nil && meta.Phase != PhaseChecked {
		return "it has no verdict, and it cannot be told whether it is being written: " + cause(err).Error(), nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !own(e.Name()) {
			return fmt.Sprintf("%q in it is not lockbench's", e.Name()), nil
		}
	}
	if ask {
		return "", nil
	}
	return "", remove(path, entries)
}

// own reports whether lockbench writes files of this name into the directory of a run.
func own(name string) bool {
	known := []string{RunFile, EventsFile, ResultsFile, CommandsFile, SamplesFile, ReportFile, ScheduleFile, CertificateFile, "logs"}
	return slices.Contains(known, name) || strings.HasPrefix(name, newPrefix)
}

// remove removes the files of a run, its description last: what a killed process leaves is still a run that can be removed.
func remove(path string, entries []os.DirEntry) error {
	for _, e := range entries {
		if e.Name() != RunFile {
			if err := os.RemoveAll(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(os.Remove(filepath.Join(path, RunFile)), os.Remove(path)); err != nil {
		return err
	}
	return relink(filepath.Dir(path), filepath.Base(path))
}

// relink points a scenario's latest link elsewhere if it led to the run that is gone: to the newest that has a verdict, or nowhere.
func relink(scenario, gone string) error {
	latest := filepath.Join(scenario, Latest)
	if to, err := os.Readlink(latest); err != nil || to != gone {
		_ = os.Remove(scenario) // fails if something else is there
		return nil
	}
	entries, err := os.ReadDir(scenario)
	if err != nil {
		return err
	}
	slices.Reverse(entries) // names begin with the time
	for _, e := range entries {
		run := filepath.Join(scenario, e.Name())
		if meta, err := loadMeta(filepath.Join(run, RunFile)); err == nil && meta.Phase == PhaseChecked {
			return link(run)
		}
	}
	if err := os.Remove(latest); err != nil {
		return err
	}
	_ = os.Remove(scenario) // fails if something else is there
	return nil
}
