package harness

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/nemesis"
)

// Nemeses lists the random faults.
func Nemeses() []string {
	var names []string
	for _, k := range drawn() {
		names = append(names, k.Name)
	}
	return names
}

// drawn are the kinds of faults that random runs can draw.
func drawn() []nemesis.Kind {
	return slices.DeleteFunc(nemesis.All(), nemesis.Kind.Scripted)
}

// compatible reports whether faults of these kinds can be in one run. Sentinels undo what
// others promote.
func compatible(kinds []nemesis.Kind) error {
	for _, s := range kinds {
		for _, p := range kinds {
			if s.Sentinels > 0 && p.Promotes {
				return fmt.Errorf("nemesis %s leaves it to the Sentinels to choose the master, and nemesis %s chooses it: take one of them", s.Name, p.Name)
			}
		}
	}
	return nil
}

// NemesisRow says what a random fault does, and why a backend cannot have it.
type NemesisRow struct {
	Name, Title string
	Gaps        map[string]string // by backend; empty: it can
	Means       map[string]string // by backend; how it does, where that is worth telling
}

// On reports whether a backend can have the fault: yes, yes and how, or no and why.
func (r NemesisRow) On(backend string) string {
	switch {
	case r.Gaps[backend] != "":
		return "no: " + r.Gaps[backend]
	case r.Means[backend] != "":
		return "yes, " + r.Means[backend]
	}
	return "yes"
}

// NemesisTable is every random fault on some backends.
func NemesisTable(backends ...Backend) []NemesisRow {
	var rows []NemesisRow
	for _, k := range drawn() {
		row := NemesisRow{Name: k.Name, Title: k.Title, Gaps: map[string]string{}, Means: map[string]string{}}
		for _, b := range backends {
			if err := k.Unsupported(b.Type); err != nil {
				row.Gaps[b.Name] = err.Error()
			} else if k.Means != nil {
				row.Means[b.Name] = k.Means(b.Type)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
