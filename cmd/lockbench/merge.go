package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
)

func newMerge() *cobra.Command {
	var out outputs
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join the results of a gate, or an exploration, that was played in shards",
		Long: `Merge joins what lockbench gate --shard, or lockbench explore --shard, wrote with --json, one file of each shard, and ends as the
whole would have ended.

Shards that are missing, there twice, cut short, or of another plan, seed or version are refused.`,
		Example: `  lockbench merge gate-*.json --junit gate.xml --markdown gate.md
  lockbench merge explored-*.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("lockbench merge needs the files of all shards (lockbench merge --help)"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.validate(gate.Shard{Index: 1, Of: 1}); err != nil {
				return usage(err)
			}
			if explored(args[0]) {
				return mergeExplored(args, out, cmd.OutOrStdout())
			}
			var parts []gate.Part
			for _, file := range args {
				res, err := gate.Read(file)
				switch {
				case gate.Missing(err):
					return usage(err)
				case err != nil:
					return failure(err)
				}
				parts = append(parts, gate.Part{File: file, Results: res})
			}
			res, err := gate.Merge(parts)
			if err != nil {
				return usage(err)
			}
			return out.deliver(res, cmd.OutOrStdout())
		},
	}
	out.flags(cmd)
	return cmd
}
