package harness_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/harness"
)

var update = flag.Bool("update", false, "rewrite docs/nemeses.md from what the faults are")

// TestDocs compares docs/nemeses.md with the faults.
func TestDocs(t *testing.T) {
	const path = "../../docs/nemeses.md"
	want := document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is not what the faults are; run: make docs (-file +faults):\n%s", path, diff)
	}
}

const preface = `<!-- Written by make docs from the kinds in nemesis. Do not edit. -->

# The nemeses

Faults that random load can be put under: ` + "`lockbench run --workload contend --lock NAME --nemesis pause,clock`" + `.
They come at random instants and overlap, but on one target there is one at a time, and all
are healed at the end. Each is two events in the history: when it begins, and when it is over
and what was seen of it. ` + "`lockbench list nemeses`" + ` prints the same table.

Of a fault that a backend cannot have the table says why; *simulated* is what only looks like
it, and *logical* what has the effect on keys alone. On embedded, time and replication are
simulated for every fault.

`

func document() string {
	var b strings.Builder
	b.WriteString(preface)
	table := []harness.Backend{harness.Embedded(), harness.Process(), docker.Backend(), harness.External(harness.Servers{})}
	var backends []string
	for _, b := range table {
		backends = append(backends, b.Name)
	}
	b.WriteString("| nemesis | what goes wrong | " + strings.Join(backends, " | ") + " |\n")
	b.WriteString(strings.Repeat("|---", 2+len(backends)) + "|\n")
	for _, n := range harness.NemesisTable(table...) {
		cells := []string{"`" + n.Name + "`", n.Title}
		for _, backend := range backends {
			cells = append(cells, n.On(backend))
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}
