package histories

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Latest is the link beside the run directories of a scenario that names the run whose verdict is
// the newest.
const Latest = "latest"

// Publish points the scenario's latest link to the run, which has been Checked. A file system
// without symbolic links gets a note in run.json instead of the link.
func (d *Dir) Publish(meta Meta) error {
	if d.phase != PhaseChecked {
		return fmt.Errorf("run directory %s is in phase %q, want %q: %s is only ever a run with a verdict", d.path, d.phase, PhaseChecked, Latest)
	}
	if err := link(d.path); err != nil {
		meta.Notes = append(meta.Notes, fmt.Sprintf("%s was not updated: %v", Latest, cause(err)))
		return d.enter(PhaseChecked, meta)
	}
	return nil
}

// Discard removes the run directory, and what Create made above it if nothing else is there.
func (d *Dir) Discard() error {
	if err := errors.Join(d.Close(), os.RemoveAll(d.path)); err != nil {
		return fmt.Errorf("cannot remove run directory: %w", err)
	}
	for _, parent := range d.made {
		_ = os.Remove(parent) // fails if another run is there
	}
	return nil
}

// unmade are the directories of a path that do not exist, the deepest first.
func unmade(path string) []string {
	var dirs []string
	for {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			return dirs
		}
		dirs = append(dirs, path)
		path = filepath.Dir(path)
	}
}

// link points latest to the run directory, at once and relatively, so that the
// store can be moved.
func link(path string) error {
	parent, run := filepath.Split(path)
	tmp := filepath.Join(parent, "."+Latest+"-"+run)
	if err := os.Symlink(run, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(parent, Latest)); err != nil {
		_ = os.Remove(tmp) // best effort: the rename's error is the one to report
		return err
	}
	return nil
}
