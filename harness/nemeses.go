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
	Means       map[string]string // by backend; how it does, where that is worth telling
}

// On says whether a backend can have the fault: yes, yes and how, or no and why.
func (r NemesisRow) On(backend string) string {
	switch {
	case r.Gaps[backend] != "":
		return "no: " + r.Gaps[backend]
	case r.Means[backend] != "":
		return "yes, " + r.Means[backend]
	}
	return "yes"
}

// deployments are the types of the backends' clusters: which faults a deployment can have is
// a matter of its type alone.
func deployments() map[string]cluster.Cluster {
	return map[string]cluster.Cluster{
		Embedded: (*embedded.Cluster)(nil),
		Process:  (*process.Cluster)(nil),
		Docker:   (*docker.Cluster)(nil),
		External: (*external.Cluster)(nil),
	}
}

// NemesisTable is every random fault on every backend.
func NemesisTable() []NemesisRow {
	backends := deployments()
	var rows []NemesisRow
	for _, k := range nemesis.Kinds() {
		row := NemesisRow{Name: k.Name, Title: k.Title, Gaps: map[string]string{}, Means: map[string]string{}}
		for name, c := range backends {
			if err := k.Needs(c); err != nil {
				row.Gaps[name] = err.Error()
			} else if k.Means != nil {
				row.Means[name] = k.Means(c)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
