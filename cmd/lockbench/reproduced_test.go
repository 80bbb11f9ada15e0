package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotReproduced: a lock that keeps what a schedule says it breaks is no pass. The run says so, and how many runs broke it.
func TestNotReproduced(t *testing.T) {
	const steps = `lockbench schedule 1
clients 2

A: acquire
B: acquire after A.1
wait done A B

expect %s fail truthful-replies
`
	for lock, reproduced := range map[string]bool{"setnx-px-lua": false, "redsync-fail-fast": true} {
		file := filepath.Join(t.TempDir(), "mine"+scheduleSuffix)
		if err := os.WriteFile(file, []byte(strings.Replace(steps, "%s", lock, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"run", file, "--runs", "2", "--out", noStore}, &stdout, &stderr)
		want, last, said := exitUnexpected, "; reproduced 0 of 2\n", true
		if reproduced {
			want, last, said = 0, "; reproduced 2 of 2\n", false
		}
		if code != want || !strings.HasSuffix(stdout.String(), last) || strings.Contains(stdout.String(), "was not reproduced") != said {
			t.Errorf("%s: exit code %d, want %d, and %q at the end:\n%s%s", lock, code, want, last, stdout.String(), stderr.String())
		}
	}
}
