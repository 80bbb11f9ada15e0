package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// printed finds the commands that an output tells its reader to run: what follows "Replay:" or "to see it", or
// stands on a line of its own, or in a cell of Markdown.
var printed = regexp.MustCompile("(?m)(?:^ *|^Replay: +|^to see it +|^the survivor +|`)(lockbench (?:run|gate|matrix|demo) [^`\n]*)")

// commandsOf runs lockbench and returns the commands that it prints, each once.
func commandsOf(t *testing.T, args []string) []string {
	t.Helper()
	if args[0] == "run" {
		args = append(args, "--out", t.TempDir())
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code > exitUnknown {
		t.Fatalf("lockbench %v: exit code %d: %s", args, code, stderr.String())
	}
	var all []string
	for _, m := range printed.FindAllStringSubmatch(stdout.String(), -1) {
		if line := strings.TrimSpace(m[1]); !strings.HasPrefix(line, "lockbench gate  ") && !strings.HasPrefix(line, "lockbench matrix  ") {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// runsAsPrinted gives each command to a shell, as a reader does, and checks that it leads to a
// verdict.
func runsAsPrinted(t *testing.T, commands []string) {
	t.Helper()
	if len(commands) == 0 {
		t.Fatal("no command is printed")
	}
	for _, line := range commands {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = t.TempDir()
		if os.Getenv("GORACE") == "" {
			cmd.Env = append(os.Environ(), "GORACE="+quickExit)
		}
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code < 0 || code > exitUnknown {
			t.Errorf("%s: exit code %d, %v\n%s", line, code, err, out)
		}
	}
}

// TestCommandsRunAsPrinted takes each command that run, gate and why print, and runs it.
func TestCommandsRunAsPrinted(t *testing.T) {
	effort.Long(t)
	for _, line := range []string{
		"run P08",
		"run P11 --lock fenced --guard fence --seed 5 --ttl 2s",
		"run P50",
		"run contend --clients 3 --nemesis pause,restart --time-limit 10s --rate 50 --keys 2 --seed 3",
		"run increment --lock exists-set --rounds 20 --fail-fast --expect fail",
		"gate --lock setnx-px-get-del --only P07,P08,P11",
		"gate --lock setnx-px-del --guard elapsed --only P07,P08",
		"why setnx-px-get-del P08",
		"why redlock P20",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			runsAsPrinted(t, commandsOf(t, strings.Fields(line)))
		})
	}
}

// TestCommandsOfWorkersRunAsPrinted does so with a worker whose path and arguments a shell would
// take apart.
func TestCommandsOfWorkersRunAsPrinted(t *testing.T) {
	locktest.NeedRedis(t)
	dir := filepath.Join(t.TempDir(), "it's a $HOME of \"workers\"")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "a worker")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ \"$1\" = 'two words' ] || exit 3\nexec lockbench worker\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	worker := quoted(script) + ` "two words"`
	for name, args := range map[string][]string{
		"run":  {"run", "P08", "--lock", "setnx-px-get-del", "--backend", "process", "--worker", worker},
		"gate": {"gate", "--worker", worker, "--lock", "setnx-px-get-del", "--only", "P08"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			commands := commandsOf(t, args)
			if !slices.ContainsFunc(commands, func(c string) bool { return strings.Contains(c, "two words") }) {
				t.Errorf("no command has the worker: %q", commands)
			}
			runsAsPrinted(t, commands)
		})
	}
}
