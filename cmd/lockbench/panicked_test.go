package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// crashingProgram is lockbench of which a goroutine panics where nothing can recover.
const crashingProgram = "lockbench-crashing"

func crashingMain() {
	crashesAbort()
	os.Exit(program(func(io.Writer, io.Writer) *cobra.Command {
		return &cobra.Command{Run: func(*cobra.Command, []string) {
			go panic("in the background")
			select {}
		}}
	}))
}

// TestPanicked checks that a panic is told in a sentence, with its place, and is no verdict.
func TestPanicked(t *testing.T) {
	root := newRoot(io.Discard, io.Discard)
	check, _, err := root.Find([]string{"check"})
	if err != nil {
		t.Fatal(err)
	}
	check.RunE = func(*cobra.Command, []string) error { panic("the roof is on fire") }
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), root, []string{"check", "x", "--format", "json"}, &stdout, &stderr)
	told := regexp.MustCompile(`^lockbench: this is an error of lockbench itself: the roof is on fire, at lockbench\.TestPanicked\.func1 \(panicked_test\.go:\d+\); please report it with the command line, and with the history if one was read\n$`)
	if code != exitHarness || !told.MatchString(stderr.String()) || !strings.Contains(stdout.String(), `"exit": 255`) {
		t.Errorf("exit code %d, %s, %s", code, stderr.String(), stdout.String())
	}
}

// TestCrash checks that a crash that nothing can recover is not taken for an unknown verdict.
func TestCrash(t *testing.T) {
	err := exec.Command(crashingProgram).Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() == exitUnknown {
		t.Errorf("a crash ended with %v", err)
	}
}
