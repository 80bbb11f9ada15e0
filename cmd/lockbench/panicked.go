package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/sim/stacks"
)

// crashesAbort makes a crash that nothing can recover, such as a panic in a goroutine of a library
// or the end of the memory, end the program by SIGABRT. Go's own exit code for it is 2, which is
// that of an unknown verdict.
func crashesAbort() { debug.SetTraceback("crash") }

// panicked tells of a panic in one sentence, and returns the exit code. It is called by the
// function that has recovered it.
func panicked(root *cobra.Command, args []string, cause any, stdout, stderr io.Writer) int {
	exit := &exitError{code: exitHarness, err: fmt.Errorf("this is an error of lockbench itself: %v, at %s; please report it with the command line, and with the history if one was read",
		cause, origin(string(debug.Stack())))}
	fmt.Fprintln(stderr, report.Clean("lockbench: "+exit.Error()))
	if cmd, _, err := root.Find(args); err == nil {
		errorJSON(cmd, stdout, exit)
	}
	return exit.code
}

// origin is where a stack that was taken while a panic was recovered has panicked.
func origin(stack string) string {
	_, behind, found := strings.Cut(stack, "\npanic(")
	if !found {
		return "an unknown place"
	}
	where, _, _ := strings.Cut(stacks.Frames("goroutine:\npanic("+behind), "\n")
	return strings.TrimSpace(where)
}
