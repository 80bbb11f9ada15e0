package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/scenarios"
)

// demoFlags are the flags of demo as the user gave them.
type demoFlags struct {
	lang, backend string
	lock, worker  string
	html          string
	servers       serverFlags
	ttl           time.Duration
	seed          uint64
	pause         bool
}

func newDemo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [name]",
		Short: "Teach: a broken lock step by step, what it breaks, and its fix under the same steps",
		Long: `Demo plays a scenario twice, with its broken lock and with a lock that survives the same steps, and tells it step by step:
what each client sent, what Redis held then, and what each client believed; and in the end side by side where the two part. All of it
is what was recorded while the real lock ran. Without a name it lists the demos in the order in which they teach (docs/course).

--pause asks before the step that decides what will come of it, and tells whether you were right. --lock and --worker put a lock of
your own into the lesson, in place of the broken one.

It exits with 0 if both came out as the catalogue expects, with 1 if not, with 2 if that cannot be said, and with 3 if the lock or the
backend cannot play it. Of a lock that the catalogue does not name for the scenario it expects what the fix keeps.`,
		Example: `  lockbench demo
  lockbench demo setnx-expire
  lockbench demo get-del --pause
  lockbench demo get-del --lang zh
  lockbench demo get-del --html get-del.html
  lockbench demo get-del --lock setnx-px-watch
  lockbench demo failover --backend process
  lockbench demo gc-pause --backend process --worker 'python3 my_lock.py'`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return demoNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			changed := cmd.Flags().Changed
			if len(args) == 0 {
				return f.list(changed, cmd.OutOrStdout())
			}
			if err := f.valid(changed); err != nil {
				return usage(err)
			}
			return f.run(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.lang, "lang", languages()[0], "language: "+strings.Join(languages(), " or "))
	flags.StringVar(&f.backend, "backend", defaultBackend(), "where the servers live: "+describe(ownBackends()))
	f.servers.flags(cmd)
	flags.Uint64Var(&f.seed, "seed", 1, "seed of everything that is random")
	flags.BoolVar(&f.pause, "pause", false, "wait for a key between steps, and ask; needs a terminal")
	flags.StringVar(&f.lock, "lock", "", "lock that goes through the steps in place of the broken one (lockbench list locks)")
	flags.StringVar(&f.worker, "worker", "", "command of a process that each client of that lock runs in (docs/worker-protocol.md), or self for this program; needs real servers")
	flags.DurationVar(&f.ttl, "ttl", 0, "lease (default: the scenario's)")
	flags.StringVar(&f.html, "html", "", "write the lesson into this file instead, as a page to step through with the arrow keys or to print")
	for name, values := range map[string]func() []string{"lang": languages, "backend": ownBackendNames, "lock": lockNames} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cmd
}

func demoNames() []string {
	var names []string
	for _, d := range demo.All() {
		names = append(names, d.Name)
	}
	return names
}

func languages() []string {
	var names []string
	for _, l := range demo.Languages() {
		names = append(names, l.Name)
	}
	return names
}

// list lists the demos. The flags of one make no sense then.
func (f *demoFlags) list(changed func(flag string) bool, stdout io.Writer) error {
	lang, err := demo.FindLanguage(f.lang)
	if err != nil {
		return usage(err)
	}
	for _, flag := range []string{"pause", "lock", "worker", "ttl", "html"} {
		if changed(flag) {
			return usage(fmt.Errorf("--%s goes with the name of a demo (lockbench demo)", flag))
		}
	}
	if err := demo.List(stdout, lang, styleOf(stdout)); err != nil {
		return failure(err)
	}
	return nil
}

// valid finds out what would otherwise fail at the very end.
func (f *demoFlags) valid(changed func(flag string) bool) error {
	switch {
	case changed("ttl") && (f.ttl < time.Millisecond || f.ttl > longestTTL || f.ttl%time.Millisecond != 0):
		return fmt.Errorf("--ttl is %v, want whole milliseconds, from 1ms to %v", f.ttl, longestTTL)
	case changed("html") && f.html == "":
		return errors.New("--html is empty, want the name of a file")
	case f.html != "" && f.pause:
		return errors.New("--pause and --html do not go together: the page is stepped through in a browser")
	case f.html != "":
		return gate.CanWrite(f.html)
	}
	return nil
}

func (f *demoFlags) run(ctx context.Context, name string, stdin io.Reader, stdout, stderr io.Writer) error {
	backend, err := backendNamed(f.backend, ownBackends())
	if err == nil {
		backend, err = f.servers.on(ctx, backend)
	}
	if err != nil {
		return usage(err)
	}
	lang, err := demo.FindLanguage(f.lang)
	if err != nil {
		return usage(err)
	}
	d, err := demo.Find(name)
	if err != nil {
		return usage(fmt.Errorf("%w (lockbench demo)", err))
	}
	opt := demo.Options{Backend: backend, Seed: f.seed, TTL: f.ttl, Log: stderr}
	if opt.Own, err = f.own(ctx, d, backend); err != nil {
		return misuse(err)
	}
	var keys *keyboard
	if f.pause {
		if keys, err = newKeyboard(ctx, stdin, stdout); err != nil {
			return usage(err)
		}
	}
	performance, err := demo.Prepare(d, opt)
	if err != nil {
		return misuse(err)
	}
	lesson, err := performance.Play(ctx)
	switch {
	case ctx.Err() != nil:
		return failure(errInterrupted)
	case harness.Unplayed(err) && !harness.NotApplicable(err) && opt.Own != nil: // nothing is known of the lock
		return &exitError{code: exitUnknown, err: err}
	case err != nil:
		return failure(err)
	}
	switch err := f.tell(lesson, lang, keys, stdout); {
	case errors.Is(err, errLeft): // the reader has seen enough; the outcome stands
	case err != nil:
		return failure(err)
	}
	switch lesson.Outcome() {
	case checker.AsExpected:
		return nil
	case checker.Unexpected:
		return &exitError{code: exitUnexpected}
	default:
		return &exitError{code: exitUnknown}
	}
}

// own is the lock that goes through the steps in place of the broken one, or nil.
func (f *demoFlags) own(ctx context.Context, d demo.Demo, backend harness.Backend) (*demo.Own, error) {
	if f.lock == "" && f.worker == "" {
		return nil, nil
	}
	s, err := scenarios.Find(d.Scenario)
	if err != nil {
		return nil, err
	}
	flags := &runFlags{lock: f.lock, worker: f.worker}
	lock, _, err := flags.lockAndGuard(ctx, backend, s.Broken().Lock)
	if err != nil {
		return nil, err
	}
	own := &demo.Own{Lock: lock, Flags: "--lock " + lock.Name}
	if f.worker != "" {
		own.Flags = "--backend " + backend.Name + f.servers.arguments() + " --worker " + quoted(f.worker)
		if f.lock != "" {
			own.Flags += " --lock " + f.lock
		}
	}
	own.Worker, err = flags.workerCommand(backend)
	return own, err
}

// tell tells a lesson as the flags say: on the terminal, at once or slide by slide, or in a file.
func (f *demoFlags) tell(l demo.Lesson, lang demo.Language, keys *keyboard, stdout io.Writer) error {
	switch {
	case f.html != "":
		var b bytes.Buffer
		if err := demo.Page(&b, l, lang); err != nil {
			return err
		}
		return gate.WriteFile(f.html, b.Bytes())
	case keys != nil:
		return demo.Pause(stdout, l, lang, styleOf(stdout), keys.wait)
	}
	return demo.Tell(stdout, l, lang, styleOf(stdout))
}
