package explore_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
)

var shorten = flag.Bool("shorten", false, "make the schedules short again that docs/explored.md lists, without the search for them")

// TestShortened makes what was found short again, and writes it: the table says by which rank of which program it was found.
func TestShortened(t *testing.T) {
	if !*shorten {
		t.Skip("optional: it writes the schedules of docs/explored.md, with -shorten")
	}
	text, err := os.ReadFile(foundFile)
	if err != nil {
		t.Fatal(err)
	}
	opt := explore.Options{Play: explore.InProcess(), Among: libraries.Catalogue(), Jobs: 1}
	titles := make(chan [2]string, 100)
	t.Run("all", func(t *testing.T) {
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(line, " | ")
			if !strings.HasPrefix(line, "| [") || len(cells) != 9 {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "| ["), "]")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rank, err := strconv.ParseUint(cells[5], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				lock := find(t, name)
				f, err := explore.Ranked(t.Context(), lock, cells[4], rank, checker.Property(strings.ReplaceAll(cells[2], " ", "-")), opt)
				if err != nil {
					t.Fatal(err)
				}
				small, runs, err := explore.Shrink(t.Context(), f, lock, opt)
				if err != nil {
					t.Fatal(err)
				}
				if !small.Steady {
					t.Fatalf("it does not come out the same with all seeds; search for it again, with -update:\n%s", small.Schedule())
				}
				s, err := small.Text(t.Context(), lock, opt)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("short in %d runs", runs)
				write(t, filepath.Join(foundDir, name+".schedule"), s.String())
				if s, err = small.Loose().Text(t.Context(), lock, opt); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(provenDir, name+".schedule"), s.String())
				titles <- [2]string{line, strings.Join(append(cells[:8:8], small.Title()+" |\n"), " | ")}
			})
		}
	})
	close(titles)
	told := string(text)
	for row := range titles {
		told = strings.Replace(told, row[0], row[1], 1)
	}
	if told != string(text) {
		write(t, foundFile, told)
	}
}
