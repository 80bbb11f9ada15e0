package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/words"
)

// marginsDocument is what margins prints as JSON.
type marginsDocument struct {
	Schema  int              `json:"schema"`
	Lock    string           `json:"lock"`
	Guard   string           `json:"guard"`
	Runs    int              `json:"runs"`
	Margins []explore.Margin `json:"margins"`
}

func newMargins() *cobra.Command {
	var guard, format string
	cmd := &cobra.Command{
		Use:   "margins LOCK",
		Short: "Measure how long a pause, a delay or a jump of a clock a lock survives",
		Long: `Margins lets something last longer and longer while clients use the lock in virtual time: a section, a pause of the holder, a reply
that is late, a release that is under way, a clock that is wrong. By bisection it finds, to the millisecond, how much of it each
property survives. The lease is 3 s.`,
		Example: `  lockbench margins setnx-px-lua
  lockbench margins redlock --guard fence --format json`,
		Args: oneLock,
		RunE: func(cmd *cobra.Command, args []string) error {
			lock, err := libraries.Catalogue().Find(args[0])
			if err != nil {
				return usage(err)
			}
			kept, err := resource.FindGuard(guard)
			if err != nil {
				return usage(err)
			}
			if err := oneOf("format", format, formats()); err != nil {
				return usage(err)
			}
			all, runs, err := explore.Margins(cmd.Context(), lock, kept)
			if err != nil {
				return failure(err)
			}
			if len(all) == 0 {
				return &exitError{code: exitUnfit, err: fmt.Errorf("lock %s with guard %s can be put through none of the disturbances", lock.Name, kept)}
			}
			if format == formatJSON {
				return printJSON(cmd.OutOrStdout(), marginsDocument{outputSchema, lock.Name, kept.String(), runs, all})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  guard %s, %s in virtual time\n", lock.Name, kept, words.Count(runs, "run"))
			tellMargins(all, cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().StringVar(&guard, "guard", resource.None.String(), "how sections protect the resource (lockbench list guards)")
	formatFlag(cmd, &format)
	return cmd
}

// tellMargins tells what is survived, of each disturbance the properties that do not survive everything first.
func tellMargins(all []explore.Margin, w io.Writer) {
	for len(all) > 0 {
		n := 0
		for n < len(all) && all[n].Disturbance == all[0].Disturbance {
			n++
		}
		fmt.Fprintf(w, "\n%s\n", all[0].Title)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		var always []string
		var most time.Duration
		for _, m := range all[:n] {
			switch {
			case m.Always:
				always, most = append(always, report.Label(m.Property)), m.Survives
			case m.Survives < 0:
				fmt.Fprintf(table, "  %s\tbroken, or not put to the test, without any\n", report.Label(m.Property))
			default:
				fmt.Fprintf(table, "  %s\tsurvives %v\n", report.Label(m.Property), m.Survives)
			}
		}
		_ = table.Flush() // what cannot be written is told at the end of the program
		if len(always) > 0 {
			fmt.Fprintf(w, "  all of %v are survived by %s\n", most, strings.Join(always, ", "))
		}
		all = all[n:]
	}
}
