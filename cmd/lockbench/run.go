package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [NAME]",
		Short: "Run one scenario or workload against one lock and judge it",
		Long: `Run plays the exact steps of a scenario, or random load, against a lock, and judges the recorded history. NAME is a
scenario, the number of its pitfall, a demo of it, a workload, or a file with a schedule of your own, whose name ends with
.schedule (docs/schedule.md, lockbench show); --scenario and --workload say so at length.

It exits with 0 if every property came out as the catalogue expects of that lock (--expect pass: if all hold), with 1 if
not, with 2 if that cannot be said, and with 3 if lock, scenario, guard, faults and backend do not go together. Of random
load it exits with 1 for the lock's own faults alone: what other locks of its class keep under the same load and faults.

Backend external uses servers of your own: --redis host:port, or rediss://host:port/db for TLS. User and password are best
given in the environment, as LOCKBENCH_REDIS_USER and LOCKBENCH_REDIS_PASSWORD; redis://user:password@host:port works too,
and neither is ever shown. Only clients and connections fail there. A run's keys have a prefix of their own and are removed
at its end; the scripts of the locks stay in the servers' script caches.`,
		Example: `  lockbench run P07
  lockbench run --scenario failover-async-repl
  lockbench run mine.schedule --lock redlock
  lockbench run --scenario failover-async-repl --lock redlock --backend process
  lockbench run --scenario gc-pause-lease-expiry --lock fenced --guard fence
  lockbench run --workload contend --lock redlock --clients 8 --seed 7
  lockbench run --workload contend --lock fenced --guard fence --nemesis pause,restart --time-limit 60s
  lockbench run --workload readwrite --lock rw-hash --keys 3 --rate 100 --time-limit 30s
  lockbench run --workload contend --nemesis pause --backend external --redis localhost:6379
  lockbench run --scenario get-del-race --backend process --worker 'python3 examples/python/worker.py' --lock setnx-px-lua`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("%s takes one name, found %d (%[1]s --help)", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return scenarioNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.take(args); err != nil {
				return misuse(err)
			}
			cfg, err := f.config(cmd.Context(), cmd.Flags().Changed)
			if err != nil {
				return misuse(err)
			}
			return f.run(cmd.Context(), cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.flags(cmd)
	return cmd
}
