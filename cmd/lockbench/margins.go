package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/words"
	"github.com/lockbench/lockbench/locks"
)

// marginsDocument is what margins prints of a lock as JSON.
type marginsDocument struct {
	Schema  int              `json:"schema"`
	Lock    string           `json:"lock"`
	Guard   string           `json:"guard"`
	Runs    int              `json:"runs"`
	Margins []explore.Margin `json:"margins"`
}

type marginsFlags struct {
	guard, format, html string
}

func newMargins() *cobra.Command {
	var f marginsFlags
	cmd := &cobra.Command{
		Use:   "margins LOCK...",
		Short: "Measure how long a pause, a delay or a jump of a clock a lock survives",
		Long: `Margins lets something last longer and longer while clients use the lock in virtual time: a section, a pause of the holder, a reply
that is late, a release that is under way, a clock that is wrong, a network that is cut. It finds, to the millisecond, how much of it
each property survives. The lease is 3 s, and T stands for it.

With --html it draws that, one bar for each lock.`,
		Example: `  lockbench margins setnx-px-lua
  lockbench margins fenced --guard fence --format json
  lockbench margins setnx-px-lua watchdog redlock --html margins.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("lockbench margins needs the name of a lock, or of several (lockbench list locks)"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			all, guard, err := f.validate(args)
			if err != nil {
				return usage(err)
			}
			return f.run(cmd.Context(), all, guard, cmd.OutOrStdout())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lockNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&f.guard, "guard", resource.None.String(), "how sections protect the resource (lockbench list guards)")
	cmd.Flags().StringVar(&f.html, "html", "", "draw the margins into this file, as a page to be opened in a browser")
	formatFlag(cmd, &f.format)
	return cmd
}

func (f *marginsFlags) validate(names []string) (all []locks.Spec, guard resource.Guard, err error) {
	for i, name := range names {
		lock, err := libraries.Catalogue().Find(name)
		if err != nil {
			return nil, guard, err
		}
		for _, before := range names[:i] {
			if before == name {
				return nil, guard, fmt.Errorf("lock %s is named twice", name)
			}
		}
		all = append(all, lock)
	}
	if f.html != "" {
		if err := gate.CanWrite(f.html); err != nil {
			return nil, guard, err
		}
	}
	if err := oneOf("format", f.format, formats()); err != nil {
		return nil, guard, err
	}
	if f.format == formatJSON && len(all) > 1 {
		return nil, guard, fmt.Errorf("--format json tells of one lock, found %d: run it once for each", len(all))
	}
	guard, err = resource.FindGuard(f.guard)
	return all, guard, err
}

// run measures locks, and tells of each as soon as it is measured. The page is of those that can be put through something.
func (f *marginsFlags) run(ctx context.Context, all []locks.Spec, guard resource.Guard, stdout io.Writer) error {
	var drawn []report.Measured
	var unfit error
	runs := 0
	for _, lock := range all {
		doc := marginsDocument{Schema: outputSchema, Lock: lock.Name, Guard: guard.String()}
		var err error
		if doc.Margins, doc.Runs, err = explore.Margins(ctx, lock, guard); err != nil {
			return failure(err)
		}
		if len(doc.Margins) == 0 {
			unfit = errors.Join(unfit, fmt.Errorf("lock %s with guard %s can be put through none of the disturbances", lock.Name, guard))
			continue
		}
		if err := f.tell(doc, len(drawn) > 0, stdout); err != nil {
			return err
		}
		drawn, runs = append(drawn, measured(doc)), runs+doc.Runs
	}
	if err := f.draw(drawn, guard, runs); err != nil {
		return failure(err)
	}
	if unfit != nil {
		return &exitError{code: exitUnfit, err: unfit}
	}
	return nil
}

// tell tells the margins of a lock, which may come after others.
func (f *marginsFlags) tell(doc marginsDocument, after bool, stdout io.Writer) error {
	if f.format == formatJSON {
		return printJSON(stdout, doc)
	}
	if after {
		fmt.Fprintln(stdout)
	}
	fmt.Fprintf(stdout, "%s  guard %s, %s in virtual time\n", doc.Lock, doc.Guard, words.Count(doc.Runs, "run"))
	tellMargins(measured(doc).Margins, stdout)
	return nil
}

// draw writes the page, if one is wanted and there is something to draw.
func (f *marginsFlags) draw(all []report.Measured, guard resource.Guard, runs int) error {
	if f.html == "" || len(all) == 0 {
		return nil
	}
	command := "lockbench margins"
	for _, m := range all {
		command += " " + m.Lock
	}
	if guard != resource.None {
		command += " --guard " + guard.String()
	}
	var b bytes.Buffer
	if err := html.Margins(&b, all, plot.Margins(all), guard.String(), runs, command); err != nil {
		return err
	}
	return gate.WriteFile(f.html, b.Bytes())
}

// measured is a document as the pages take it.
func measured(doc marginsDocument) report.Measured {
	m := report.Measured{Lock: doc.Lock}
	for _, of := range doc.Margins {
		m.Margins = append(m.Margins, report.Margin(of))
	}
	return m
}

// tellMargins tells what is survived, of each disturbance the properties that do not survive everything first.
func tellMargins(all []report.Margin, w io.Writer) {
	for len(all) > 0 {
		n := 0
		for n < len(all) && all[n].Disturbance == all[0].Disturbance {
			n++
		}
		fmt.Fprintf(w, "\n%s\n", all[0].Title)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		var always []string
		for _, m := range all[:n] {
			switch {
			case m.Always:
				always = append(always, report.Label(m.Property))
			case m.Never():
				fmt.Fprintf(table, "  %s\tbroken, or not put to the test, without any\n", report.Label(m.Property))
			case m.Again:
				fmt.Fprintf(table, "  %s\tsurvives %v\t%s\tand some that are longer again\n", report.Label(m.Property), m.Survives, m.Leases(m.Survives))
			default:
				fmt.Fprintf(table, "  %s\tsurvives %v\t%s\n", report.Label(m.Property), m.Survives, m.Leases(m.Survives))
			}
		}
		_ = table.Flush() // what cannot be written is told at the end of the program
		if len(always) > 0 {
			fmt.Fprintf(w, "  all of %v are survived by %s\n", all[0].Looked, strings.Join(always, ", "))
		}
		all = all[n:]
	}
}
