package harness

import (
	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/cluster/embedded"
	"github.com/lockbench/lockbench/cluster/external"
	"github.com/lockbench/lockbench/cluster/process"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/nemesis"
)

// Nemeses lists the random faults.
func Nemeses() []string { return nemesis.Names() }

// NemesisRow says what a random fault does, and why a backend cannot have it.
type NemesisRow struct {
	Name, Title string
	Gaps        map[string]string // by backend; empty: it can
}

// NemesisTable is every random fault on every backend.
func NemesisTable() []NemesisRow {
	// Which faults a deployment can have is a matter of its type alone.
	backends := map[string]cluster.Cluster{
		Embedded: (*embedded.Cluster)(nil),
		Process:  (*process.Cluster)(nil),
		Docker:   (*docker.Cluster)(nil),
		External: (*external.Cluster)(nil),
	}
	var rows []NemesisRow
	for _, k := range nemesis.Kinds() {
		row := NemesisRow{Name: k.Name, Title: k.Title, Gaps: map[string]string{}}
		for name, c := range backends {
			if err := k.Needs(c); err != nil {
				row.Gaps[name] = err.Error()
			}
		}
		rows = append(rows, row)
	}
	return rows
}
