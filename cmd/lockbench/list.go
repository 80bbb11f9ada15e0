package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/resource"
	"github.com/lockbench/lockbench/scenarios"
)

// listing is one kind of thing that can be listed.
type listing struct {
	kind   string
	header []string
	rows   func() [][]string
}

func listings() []listing {
	return []listing{
		{"scenarios", []string{"ID", "SCENARIO", "LOCK", "SURVIVED BY", "WHAT HAPPENS"}, scenarioRows},
		{"locks", []string{"LOCK", "SOUND", "MASTERS", "FENCING", "BROKEN BY", "COMMANDS"}, lockRows},
		{"guards", []string{"GUARD", "WHAT THE SECTION DOES"}, guardRows},
		{"backends", []string{"BACKEND", "WHAT IT IS"}, backendRows},
		{"workloads", []string{"WORKLOAD", "WHAT IT DOES"}, workloadRows},
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
		Short:     "List scenarios, locks, guards, backends and workloads",
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
	cmd.Flags().StringVar(&format, "format", formatText, "text or json")
	return cmd
}

func listText(w io.Writer, all []listing) error {
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(tw, strings.Join(l.header, "\t"))
		for _, row := range l.rows() {
			fmt.Fprintln(tw, strings.Join(row, "\t"))
		}
		if err := tw.Flush(); err != nil {
			return failure(err)
		}
	}
	return nil
}

func listJSON(w io.Writer, all []listing) error {
	out := map[string][]map[string]string{}
	for _, l := range all {
		out[l.kind] = []map[string]string{}
		for _, row := range l.rows() {
			fields := map[string]string{}
			for i, h := range l.header {
				fields[strings.ReplaceAll(strings.ToLower(h), " ", "_")] = row[i]
			}
			out[l.kind] = append(out[l.kind], fields)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return failure(err)
	}
	return nil
}

func scenarioRows() [][]string {
	var rows [][]string
	for _, s := range scenarios.All() {
		var twins []string
		for _, t := range s.Survivors() {
			twins = append(twins, t.String())
		}
		rows = append(rows, []string{s.ID, s.Name, s.Broken().String(), strings.Join(twins, ", "), s.Title})
	}
	return rows
}

func lockRows() [][]string {
	var rows [][]string
	for _, l := range locks.All() {
		rows = append(rows, []string{l.Name, yesNo(l.Sound), fmt.Sprint(l.Masters), yesNo(l.Fencing), l.Flaw, l.Title})
	}
	return rows
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
	return [][]string{
		{harness.Embedded, "in-process servers in virtual time; needs nothing installed (default)"},
		{harness.Process, "real redis-server processes on loopback; needs redis-server 6.2 or newer on PATH"},
	}
}

func workloadRows() [][]string {
	return [][]string{{harness.Contend, "N clients acquire, increment the protected register, release, with random think times"}}
}
