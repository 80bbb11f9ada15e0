package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// listing is one kind of thing that can be listed.
type listing struct {
	kind   string
	header []string
	rows   func() [][]string
	// narrow is how many columns the text has; the rest is in JSON only. 0 means all.
	narrow int
}

func listings() []listing {
	return []listing{
		{kind: "scenarios", header: []string{"ID", "SCENARIO", "WHAT HAPPENS", "LOCK", "SURVIVED BY"}, rows: scenarioRows, narrow: 3},
		{kind: "locks", header: lockHeader(), rows: lockRows, narrow: 6},
		{kind: "guards", header: []string{"GUARD", "WHAT THE SECTION DOES"}, rows: guardRows},
		{kind: "backends", header: []string{"BACKEND", "WHAT IT IS"}, rows: backendRows},
		{kind: "nemeses", header: []string{"NEMESIS", "WHAT GOES WRONG", "EMBEDDED", "PROCESS", "DOCKER", "EXTERNAL"}, rows: nemesisRows},
		{kind: "workloads", header: []string{"WORKLOAD", "WHAT IT DOES"}, rows: workloadRows},
	}
}

func newList() *cobra.Command {
	var format string
	var kinds []string
	for _, l := range listings() {
		kinds = append(kinds, l.kind)
	}
	cmd := &cobra.Command{
		Use:       "list [" + strings.Join(kinds, "|") + "]",
		Short:     "List scenarios, locks, guards, backends, nemeses and workloads",
		Example:   "  lockbench list\n  lockbench list locks --format json",
		ValidArgs: kinds,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return usage(err)
			}
			all := listings()
			if len(args) == 1 {
				if err := oneOf("list of", args[0], kinds); err != nil {
					return usage(err)
				}
				for _, l := range all {
					if l.kind == args[0] {
						all = []listing{l}
						break
					}
				}
			}
			if format == formatJSON {
				return listJSON(cmd.OutOrStdout(), all)
			}
			return listText(cmd.OutOrStdout(), all)
		},
	}
	formatFlag(cmd, &format)
	return cmd
}

func listText(w io.Writer, all []listing) error {
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		columns := l.narrow
		if columns == 0 {
			columns = len(l.header)
		}
		fmt.Fprintln(tw, strings.Join(l.header[:columns], "\t"))
		for _, row := range l.rows() {
			fmt.Fprintln(tw, strings.Join(row[:columns], "\t"))
		}
		if err := tw.Flush(); err != nil {
			return failure(err)
		}
	}
	return nil
}

func listJSON(w io.Writer, all []listing) error {
	out := map[string]any{"schema": outputSchema}
	for _, l := range all {
		rows := []map[string]string{}
		for _, row := range l.rows() {
			fields := map[string]string{}
			for i, h := range l.header {
				fields[fieldName(h)] = row[i]
			}
			rows = append(rows, fields)
		}
		out[l.kind] = rows
	}
	return printJSON(w, out)
}

// fieldName is the column of a table as JSON names it.
func fieldName(column string) string { return strings.ReplaceAll(strings.ToLower(column), " ", "_") }

func scenarioRows() [][]string {
	var rows [][]string
	for _, s := range scenarios.All() {
		var twins []string
		for _, t := range s.Survivors() {
			twins = append(twins, t.String())
		}
		rows = append(rows, []string{s.ID, s.Name, s.Title, s.Broken().String(), strings.Join(twins, ", ")})
	}
	return rows
}

// lockHeader begins with what fits into 120 columns.
func lockHeader() []string {
	return []string{
		"LOCK", "SOUND", "NODES", "CAPABILITIES", "SOURCE", "BROKEN BY",
		"COMMANDS", "ASSUMPTION", "MASTERS", "REPLICAS", "FENCING", "VARIANT OF", "NEEDS",
	}
}

func lockRows() [][]string {
	var rows [][]string
	all := libraries.Catalogue()
	for _, l := range all {
		nodes := fmt.Sprint(l.Masters)
		if l.Replicas > 0 {
			nodes += "+" + fmt.Sprint(l.Replicas)
		}
		rows = append(rows, []string{
			l.Name, yesNo(l.Sound), nodes, strings.Join(l.Capabilities(), ", "), l.Source, ranges(pitfallsOf(l, all)),
			l.Title, l.Assumption, fmt.Sprint(l.Masters), fmt.Sprint(l.Replicas), yesNo(l.Fencing), l.Variant, needs(l),
		})
	}
	return rows
}

// needs are the commands that a lock needs and not every server has.
func needs(l locks.Spec) string {
	var all []string
	for _, c := range l.Commands {
		all = append(all, c.String())
	}
	return strings.Join(all, ", ")
}

// pitfallsOf are the numbers of the scenarios that break a lock, which all others of those in among need not be broken by.
func pitfallsOf(l locks.Spec, among locks.Catalogue) (ids []string) {
	for _, s := range scenarios.All() {
		if s.Breaks(l, among) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// ranges shortens three or more pitfalls that follow each other: P42-P45, P64.
func ranges(ids []string) string {
	var short []string
	for i := 0; i < len(ids); {
		end := i
		for end+1 < len(ids) && follows(ids[end], ids[end+1]) {
			end++
		}
		if end-i >= 2 {
			short = append(short, ids[i]+"-"+ids[end])
			i = end + 1
			continue
		}
		short = append(short, ids[i])
		i++
	}
	return strings.Join(short, ", ")
}

func follows(a, b string) bool {
	m, errA := strconv.Atoi(strings.TrimPrefix(a, "P"))
	n, errB := strconv.Atoi(strings.TrimPrefix(b, "P"))
	return errA == nil && errB == nil && n == m+1
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func guardRows() [][]string {
	var rows [][]string
	for _, g := range resource.Guards() {
		rows = append(rows, []string{g.String(), g.Title()})
	}
	return rows
}

func backendRows() [][]string {
	var rows [][]string
	for _, b := range backends() {
		rows = append(rows, []string{b.Name, b.Title})
	}
	rows[0][1] += " (default)"
	return rows
}

func nemesisRows() [][]string {
	var rows [][]string
	for _, n := range harness.NemesisTable(backends()...) {
		row := []string{n.Name, n.Title}
		for _, backend := range backendNames() {
			row = append(row, n.On(backend))
		}
		rows = append(rows, row)
	}
	return rows
}

func workloadRows() [][]string {
	var rows [][]string
	for _, name := range harness.Workloads() {
		rows = append(rows, []string{name, harness.WorkloadTitle(name)})
	}
	return rows
}
