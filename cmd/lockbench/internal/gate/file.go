package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile replaces a file at once: whoever reads it sees the old content or the new. What
// is no file, such as /dev/stdout, is written to.
func WriteFile(name string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if special(name) {
		return os.WriteFile(name, data, 0o644)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // best effort: the first error is the one to report
			err = fmt.Errorf("cannot write %s: %w", name, err)
		}
	}()
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// CanWrite returns why a file cannot be written, before hours of work are lost for it.
func CanWrite(name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a directory", name)
	}
	if special(name) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// special reports whether name exists and is no ordinary file.
func special(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}
