//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is what a terminal shows, for one to write and another to look at.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestPauseOnATerminal presses keys on a terminal that script(1) makes, each once lockbench
// waits for one. The terminal must be as it was afterwards.
func TestPauseOnATerminal(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("no script(1) to make a terminal with")
	}
	const prompt = "[any key: go on"
	for name, tc := range map[string]struct {
		keys  []string
		code  string
		shows string
	}{
		"leave":  {[]string{" ", "\x1b[A", "q"}, "code 0 icanon", "2  0.0"},
		"back":   {[]string{" ", "b", "q"}, "code 0 icanon", "(back)"},
		"Ctrl-C": {[]string{" ", "\x03"}, "code 255 icanon", "lockbench: interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("script", "-qec",
				`lockbench demo get-del --pause; echo "code $?" $(stty -a | grep -o '[^-]icanon')`, "/dev/null")
			cmd.Env = append(os.Environ(), "SHELL=/bin/sh", "GORACE="+quickExit)
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
			until := func(what string, seen func() bool) {
				t.Helper()
				for !seen() {
					select {
					case <-deadline:
						t.Fatalf("waited %v for %s:\n%s", hangs, what, shown)
					case <-time.After(5 * time.Millisecond):
					}
				}
			}
			for i, key := range tc.keys {
				until("the prompt", func() bool { return strings.Count(shown.String(), prompt) > i })
				if _, err := io.WriteString(keys, key); err != nil {
					t.Fatal(err)
				}
			}
			until("the end", func() bool {
				select {
				case <-ended:
					return true
				default:
					return false
				}
			})
			if got := shown.String(); !strings.Contains(got, tc.code) || !strings.Contains(got, tc.shows) {
				t.Errorf("want %q and %q:\n%s", tc.code, tc.shows, got)
			}
			if n := strings.Count(shown.String(), prompt); n != len(tc.keys) {
				t.Errorf("%d prompts for %d keys", n, len(tc.keys))
			}
		})
	}
}
