package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestSameSeedSamePage keeps what README.md promises: in virtual time the same command prints
// the same bytes, save where the run is kept and when.
func TestSameSeedSamePage(t *testing.T) {
	effort.Long(t)
	when := regexp.MustCompile(`\d{8}T\d{6}\.\d{3}Z`)
	for _, line := range []string{
		"run --scenario get-del-race",
		"run --scenario failover-async-repl --lock redlock --seed 7",
		"run --scenario gc-pause-lease-expiry --runs 3",
		"run --workload contend --nemesis pause,restart --time-limit 6s",
		"gate --only P07,P14,P26",
		"gate --lock setnx-px-get-del --only P07,P08,P11",
		"gate --only P07,P08 --format json",
		"matrix --only P07,P08 --lock setnx-px-del,redlock",
		"demo get-del",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			once := func() (int, string) {
				args, store := strings.Fields(line), t.TempDir()
				if args[0] == "run" {
					args = append(args, "--out", store)
				}
				var stdout bytes.Buffer
				code := run(t.Context(), args, &stdout, io.Discard)
				text := strings.ReplaceAll(stdout.String(), store, "store")
				if strings.HasSuffix(line, "json") { // whose fields "took" are of this run alone
					text = regexp.MustCompile(`"took": \d+`).ReplaceAllString(text, "")
				}
				return code, when.ReplaceAllString(text, "<time>")
			}
			code, first := once()
			again, second := once()
			if code != again || first != second {
				t.Errorf("exit codes %d and %d; the first time it printed\n%s\nand the second time\n%s", code, again, first, second)
			}
			if code > exitUnexpected || len(first) < 100 {
				t.Errorf("exit code %d and %q say little", code, first)
			}
		})
	}
}
