package locktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/scenarios"
)

// Replay plays each schedule that lies in testdata/lockbench again, as a subtest of its name. It fails where the lock still
// breaks what locks of its class keep, and for a file that is no schedule. A schedule that the lock cannot come to any more, as it
// sends other commands now, is skipped, and so is the whole test where there are no schedules.
func Replay(t *testing.T, lock Lock, opts ...Option) {
	t.Helper()
	outside(t, "Replay")
	r := newTest(t, lock, newOptions(t, opts))
	r.again = true
	files, err := filepath.Glob(filepath.Join(found, "*.schedule"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip(optional + "there is no schedule in " + found)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".schedule")
		t.Run(name, func(t *testing.T) {
			t.Helper()
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenarios.Parse(string(src))
			if err != nil {
				t.Fatalf("%s is no schedule: %v", file, err)
			}
			if len(s.Cases) == 0 {
				t.Fatalf("%s names no lock: want a line \"lock\" or \"expect\"", file)
			}
			if why := s.Unfit(r.spec); why != "" {
				t.Skip(optional + why)
			}
			s.Name = name
			r.scenario(t, s)
		})
	}
}
