package house

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/nemesis"
)

// written are the kinds that a schedule can begin, by the names that it has for them.
func written() []nemesis.Kind {
	kinds := slices.DeleteFunc(nemesis.All(), func(k nemesis.Kind) bool { return k.Begins == "" })
	slices.SortFunc(kinds, func(a, b nemesis.Kind) int { return cmp.Compare(a.Written(), b.Written()) })
	return kinds
}

// TestListsFaults checks that schedules know the faults of nemesis: what they hit and how they are told. A schedule is text
// that needs no deployment, so its package does not import that of the faults. With -update it writes the list.
func TestListsFaults(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("// Written by make lists from the kinds of nemesis.\n\npackage schedule\n\n")
	b.WriteString("// faultsOfNemesis are the kinds of faults that a step can begin.\nfunc faultsOfNemesis() []fault {\n\treturn []fault{\n")
	for _, k := range written() {
		fmt.Fprintf(&b, "{\nname: %q, hits: %s, ", k.Written(), hits(t, k))
		if k.Amount == nemesis.ByTime {
			b.WriteString("by: true, ")
		}
		if k.Amount == nemesis.AtRate {
			b.WriteString("rate: true, ")
		}
		if k.Replicas > 0 {
			fmt.Fprintf(&b, "replicas: %d, ", k.Replicas)
		}
		fmt.Fprintf(&b, "\nbegins: %q,\n", k.Begins)
		if k.BeginsOnReply != "" {
			fmt.Fprintf(&b, "beginsOnReply: %q,\n", k.BeginsOnReply)
		}
		if k.Ends != "" {
			fmt.Fprintf(&b, "ends: %q,\n", k.Ends)
		}
		b.WriteString("},\n")
	}
	b.WriteString("\t}\n}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	asWritten(t, path.Join(root, "internal/schedule/list.go"), "make lists", string(text))
}

// hits is what a fault hits in the words of a schedule.
func hits(t *testing.T, k nemesis.Kind) string {
	t.Helper()
	switch k.Hits {
	case nemesis.HitsClient, nemesis.HitsConnections, nemesis.HitsConnection:
		return "client"
	case nemesis.HitsServer:
		return "server"
	case nemesis.HitsReplica:
		return "replica"
	case nemesis.HitsServers, nemesis.HitsMaster, nemesis.HitsReplicas:
		return "nobody"
	}
	t.Fatalf("%s hits %d, which schedules have no word for", k.Name, k.Hits)
	return ""
}

// TestListsFaultsInDocs checks that docs/schedule.md has them too. With -update it writes their table.
func TestListsFaultsInDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| `start …` | what begins | what `stop …` ends |\n|---|---|---|\n")
	for _, k := range written() {
		form := k.Written()
		begins, ends := k.Begins, cmp.Or(k.Ends, "–")
		switch hits(t, k) {
		case "client":
			form += " A"
			if strings.Contains(begins+ends, "{server") {
				form += " [on 3 4]"
			}
		case "server":
			form += " [on 3]"
		case "replica":
			form += " [replica 2]"
		}
		if k.Amount == nemesis.ByTime {
			form += " by 0.5T"
		}
		if k.Amount == nemesis.AtRate {
			form += " times 2"
		}
		if k.BeginsOnReply != "" {
			form += " [reply]"
			begins += "; with `reply`: " + k.BeginsOnReply
		}
		words := strings.NewReplacer("{client}", "A", "{server}", "the server", "{servers}", "the servers", "{nth}", "", "{by}", "so much", "{times}", "so many")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", form, words.Replace(begins), words.Replace(ends))
	}
	b.WriteString("\n")
	file := path.Join(root, "docs/schedule.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	asWritten(t, file, "make lists", withPart(t, string(page), "faults", b.String()))
}
