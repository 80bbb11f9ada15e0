// Command lockbench tests Redis distributed locks: it drives a lock with several
// clients, makes things go wrong at exact points, and judges what was recorded.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/locks"
)

// The exit codes.
const (
	exitExpected   = 0   // everything came out as expected
	exitUnexpected = 1   // something did not
	exitUnknown    = 2   // nothing can be said
	exitUnfit      = 3   // not applicable: what was asked for does not go together
	exitUsage      = 254 // the command line is wrong, or a file that it names
	exitHarness    = 255 // lockbench itself, or what it needs, failed
)

func main() {
	crashesAbort()
	os.Exit(program(func(stdout, stderr io.Writer) *cobra.Command {
		root := newRoot(stdout, stderr)
		speak(root, language.Of(os.Getenv))
		return root
	}))
}

// program is a process with a command line: it ends with the code that is returned, or soon after
// a signal that asks it to.
func program(root func(stdout, stderr io.Writer) *cobra.Command) int {
	locks.Quiet()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	end := new(parting)
	context.AfterFunc(ctx, func() { end.leave(time.Tick(aTick), os.Stderr, os.Exit) })
	stdout, stderr := onTerminal(os.Stdout), onTerminal(os.Stderr)
	return execute(context.WithValue(ctx, partingKey{}, end), root(stdout, stderr), os.Args[1:], stdout, stderr)
}

// execute runs a command line, and returns the exit code.
func execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if cause := recover(); cause != nil {
			code = panicked(root, args, cause, stdout, stderr)
		}
	}()
	// After the first signal the next one ends the program at once, except the one that
	// timeout(1) sends right behind its first.
	stopped := context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, func() { signal.Reset() }) })
	defer stopped()

	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitExpected
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(stderr, report.Clean("lockbench: "+exit.err.Error()))
			if !exit.told {
				errorJSON(cmd, stdout, exit)
			}
		}
		return exit.code
	default: // cobra's own errors are about the command line
		fmt.Fprintln(stderr, report.Clean("lockbench: "+err.Error()+" (lockbench help)"))
		errorJSON(cmd, stdout, &exitError{code: exitUsage, err: err})
		return exitUsage
	}
}

// exitError ends the program with code, and with a message if err is not nil.
type exitError struct {
	code int
	err  error
	told bool // the JSON on stdout has err already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is a mistake on the command line. Of an unknown name it tells which command
// lists the known ones.
func usage(err error) error {
	var unknown *catalogue.UnknownError
	if errors.As(err, &unknown) {
		for _, l := range listings() {
			if l.kind == plural(unknown.Kind) {
				err = fmt.Errorf("%w (lockbench list %s)", err, l.kind)
			}
		}
	}
	return &exitError{code: exitUsage, err: err}
}

func plural(kind string) string {
	if stem, isGreek := strings.CutSuffix(kind, "is"); isGreek { // nemesis
		return stem + "es"
	}
	return kind + "s"
}

// misuse is a usage error, unless err says otherwise itself.
func misuse(err error) error {
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	if harness.NotApplicable(err) {
		return &exitError{code: exitUnfit, err: err}
	}
	return usage(err)
}

// failure is an error of lockbench itself or of what it needs, unless err says otherwise itself.
func failure(err error) error {
	if harness.NotApplicable(err) {
		return &exitError{code: exitUnfit, err: err}
	}
	return &exitError{code: exitHarness, err: err}
}
