package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

const recordPreface = `<!-- Written by make track-record from the results of a gate. Do not edit. -->

# Track record

Every pitfall of the catalogue, and every finding in a real library, with the command that reproduces it. CI plays all of them
again at every commit and fails if one does not come out as it is written here (` + "`make docs-check`" + `): what you read is true of
the commit that you read it in. The last column is the commit at which ` + "`make track-record`" + ` last wrote the row down.

Reported: A to E are the articles, R is the documentation of Redis, K is Kleppmann 2016 with antirez's reply, and a name with
a number is an issue of that project.
`

// neverRecorded stands where no commit is known yet.
const neverRecorded = "–"

// recordRow is one line of the track record.
type recordRow struct {
	id, lock string   // its key
	cells    []string // between them and the commit
	commit   string
	library  bool
}

// TrackRecord is the track record at path, brought up to date: what the gate r
// reproduced is written anew, at that commit if it is not empty; what it did not play, or not
// reproduce, stays as it was.
func TrackRecord(path string, r Results, catalogue []scenarios.Scenario, commit string) ([]byte, error) {
	old, err := readRecord(path)
	if err != nil {
		return nil, err
	}
	var rows []recordRow
	for _, s := range catalogue {
		for i, c := range s.Cases {
			lock, err := libraries.Catalogue().Find(c.Lock)
			if err != nil {
				return nil, err
			}
			library := lock.Library()
			pitfall := i == 0
			if !pitfall && (s.Holds || s.Saves(c)) || library == "" && !pitfall {
				continue
			}
			row, played := r.reproduced(s, c)
			if library != "" {
				rows = record(rows, old, libraryRow(s, lock, row), commit, played)
			}
			if pitfall {
				rows = record(rows, old, pitfallRow(s, c, row), commit, played)
			}
		}
	}
	return drawRecord(rows), nil
}

// record appends a row that was reproduced, or what was known of one that was not.
func record(rows, old []recordRow, row recordRow, commit string, reproduced bool) []recordRow {
	i := slices.IndexFunc(old, func(o recordRow) bool { return o.library == row.library && o.id == row.id && o.lock == row.lock })
	switch {
	case i < 0 && !reproduced:
		return rows
	case i < 0:
		row.commit = neverRecorded
	case reproduced:
		row.commit = old[i].commit
	default:
		row = old[i]
	}
	if reproduced && commit != "" {
		row.commit = report.Code(commit)
	}
	return append(rows, row)
}

// reproduced is the first run of a case, if all came out as expected.
func (r Results) reproduced(s scenarios.Scenario, c scenarios.Case) (Row, bool) {
	var first *Row
	for i, row := range r.Rows {
		if row.Scenario != s.Name || row.Lock != c.Lock || row.Guard != c.Guard.String() || row.Remedy != c.Remedy || row.Role == Own {
			continue
		}
		if row.Outcome != Expected {
			return row, false
		}
		if first == nil {
			first = &r.Rows[i]
		}
	}
	if first == nil {
		return Row{}, false
	}
	return *first, true
}

func pitfallRow(s scenarios.Scenario, c scenarios.Case, row Row) recordRow {
	var twins []string
	for _, t := range s.Survivors() {
		twins = append(twins, t.String())
	}
	return recordRow{id: s.ID, lock: report.Code(c.String()), cells: []string{
		report.Escape(s.Title), report.Escape(s.Source), strings.Join(labels(row.Violated()), ", "), some(twins, 2), report.Code(row.Command),
	}}
}

func libraryRow(s scenarios.Scenario, lock locks.Spec, row Row) recordRow {
	return recordRow{library: true, id: s.ID, lock: report.Code(lock.Name), cells: []string{
		report.Escape(lock.Library()), report.Escape(lock.Title), report.Escape(s.Title), report.Escape(s.Source), strings.Join(labels(row.Violated()), ", "), report.Code(row.Command),
	}}
}

const (
	pitfallHeader = "| pitfall | lock | what | reported | violated | survived by | command | last reproduced |"
	libraryHeader = "| pitfall | lock | library | how it is used | what | reported | violated | command | last reproduced |"
)

func drawRecord(rows []recordRow) []byte {
	var b strings.Builder
	b.WriteString(recordPreface)
	for _, table := range []struct {
		title, header string
		library       bool
	}{{"Pitfalls", pitfallHeader, false}, {"Real libraries", libraryHeader, true}} {
		var lines []string
		for _, row := range rows {
			if row.library == table.library {
				lines = append(lines, "| "+strings.Join(slices.Concat([]string{row.id, row.lock}, row.cells, []string{row.commit}), " | ")+" |\n")
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", table.title, words.Count(len(lines), "finding"))
		if len(lines) > 0 {
			b.WriteString("\n" + table.header + "\n" + strings.Repeat("|---", strings.Count(table.header, "|")-1) + "|\n" + strings.Join(lines, ""))
		}
	}
	return []byte(b.String())
}

// readRecord reads the rows of a track record. One that does not exist has none.
func readRecord(path string) ([]recordRow, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var rows []recordRow
	library := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch line {
		case pitfallHeader:
			library = false
		case libraryHeader:
			library = true
		default:
			cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
			if strings.HasPrefix(line, "| P") && len(cells) > 3 {
				last := len(cells) - 1
				rows = append(rows, recordRow{id: cells[0], lock: cells[1], cells: cells[2:last], commit: cells[last], library: library})
			}
		}
	}
	return rows, err
}
