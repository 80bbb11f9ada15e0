package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/docs/schema"
)

func newSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of what lockbench writes",
		Long: `Schema prints the JSON Schema (draft 2020-12) of a file that lockbench keeps, or of what a command prints with --format json.
Without a name it lists them. docs/formats.md tells what each is, and what may change without a new version.`,
		Example: "  lockbench schema\n  lockbench schema results > results.schema.json",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return schema.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
				fmt.Fprintln(tw, "SCHEMA\tWHAT IT DESCRIBES")
				for _, name := range schema.Names() {
					fmt.Fprintf(tw, "%s\t%s\n", name, schemaTitle(name))
				}
				if err := tw.Flush(); err != nil {
					return failure(err)
				}
				return nil
			}
			if err := oneOf("schema", args[0], schema.Names()); err != nil {
				return usage(err)
			}
			if _, err := out.Write(schema.Text(args[0])); err != nil {
				return failure(err)
			}
			return nil
		},
	}
	return cmd
}

// schemaTitle is what the schema of that name describes, in a few words.
func schemaTitle(name string) string {
	var head struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(schema.Text(name), &head) // a test reads them all
	return head.Title
}
