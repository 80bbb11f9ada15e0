package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamplesOfCI checks that the commands in docs/ci have flags that there are.
func TestExamplesOfCI(t *testing.T) {
	files, err := filepath.Glob("../../docs/ci/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	commands := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A command goes on where the next line is indented as deep and has flags.
		text := regexp.MustCompile(`\n +(--|\|\|)`).ReplaceAllString(string(data), " $1")
		for _, m := range regexp.MustCompile(`lockbench (gate|merge|explore) ([^\n]*)`).FindAllStringSubmatch(text, -1) {
			commands[m[1]]++
			cmd, _, err := newRoot(new(bytes.Buffer), new(bytes.Buffer)).Find([]string{m[1]})
			if err != nil {
				t.Fatal(err)
			}
			flags := regexp.MustCompile(`--[a-z-]+`).FindAllString(m[2], -1)
			if len(flags) == 0 {
				t.Errorf("%s: no flags in %q", file, m[0])
			}
			for _, flag := range flags {
				if cmd.Flags().Lookup(strings.TrimPrefix(flag, "--")) == nil {
					t.Errorf("%s: lockbench %s has no flag %s", file, m[1], flag)
				}
			}
		}
	}
	if commands["gate"] < 2 || commands["explore"] < 2 || commands["merge"] < 4 {
		t.Errorf("commands found: %v, want gate, explore and merge in their examples", commands)
	}
}
