//go:build linux

package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// TestProgressOnATerminal lets long work tell how far it is on a terminal of 60 columns that
// script(1) makes, and then presses Ctrl-C. The line keeps to the width and is taken away.
func TestProgressOnATerminal(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t) // where runs wait and do not compute
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("no script(1) to make a terminal with")
	}
	const taken = "\r\x1b[K"
	for name, tc := range map[string]struct {
		args, env string
		shows     string // while it works
		ends      string // what follows the line at the end
	}{
		"gate":     {"gate --backend process --only P08 --lock setnx-px-lua --runs 2000 --jobs 1", "LC_ALL=C.UTF-8", "left", "lockbench gate"},
		"matrix":   {"matrix --backend process --only P08 --lock setnx-px-lua --runs 2000 --jobs 1", "LC_ALL=C", "----  ", "lockbench: interrupted"},
		"runs":     {"run --backend process --scenario get-del-race --runs 2000 --out none", "LC_ALL=C.UTF-8", "of 2000 runs", ""},
		"dumb":     {"run --backend process --scenario get-del-race --runs 2000 --out none", "TERM=dumb", "of 2000 runs", ""},
		"no color": {"gate --backend process --only P08 --lock setnx-px-lua --runs 2000 --jobs 1", "NO_COLOR=1", "left", "lockbench gate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Ctrl-C reaches the shell too, and a shell without the trap may die of it. Its echo would
			// come at any time after the signal.
			cmd := exec.Command("script", "-qec", `trap : INT; stty cols 60 -echo noflsh; lockbench `+tc.args+`; echo "code $?"`, "/dev/null")
			cmd.Env = append(os.Environ(), "SHELL=/bin/sh", "GORACE="+quickExit, "TERM=xterm", tc.env)
			shown := new(screen)
			cmd.Stdout, cmd.Stderr = shown, shown
			keys, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				_ = cmd.Wait() // what it showed is looked at
				close(ended)
			}()
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // fails if it has ended, as it should
				<-ended
			})
			deadline := time.After(hangs)
			for !strings.Contains(shown.String(), tc.shows) {
				select {
				case <-deadline:
					t.Fatalf("waited %v for %q:\n%q", hangs, tc.shows, shown)
				case <-time.After(5 * time.Millisecond):
				}
			}
			if _, err := io.WriteString(keys, "\x03"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-deadline:
				t.Fatalf("waited %v for the end:\n%q", hangs, shown)
			case <-ended:
			}
			got := shown.String()
			if !strings.Contains(got, "code 255") || !regexp.MustCompile(`lockbench: interrupted after \d+ of \d+ runs`).MatchString(got) {
				t.Errorf("want an interruption:\n%q", got)
			}
			last := strings.LastIndex(got, taken)
			if name == "dumb" {
				if last >= 0 || strings.Contains(got, "\x1b") {
					t.Errorf("a dumb terminal was sent escapes:\n%q", got)
				}
				return
			}
			if last < 0 || !strings.HasPrefix(got[last+len(taken):], tc.ends) {
				t.Errorf("the line was not taken away before %q:\n%q", tc.ends, got)
			}
			if name == "no color" && regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(got) {
				t.Errorf("there are colours in spite of NO_COLOR:\n%q", got)
			}
			for _, line := range strings.Split(got, taken) {
				line, _, _ = strings.Cut(line, "\r")
				if strings.Contains(line, "%") && utf8.RuneCountInString(line) > 59 {
					t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
				}
			}
		})
	}
}
