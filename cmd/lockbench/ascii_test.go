package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestASCIITerminal writes to a terminal that may have nothing but ASCII, in pieces that end within a rune.
func TestASCIITerminal(t *testing.T) {
	const text = "A  ├──┤██░✗▷  lease until 3.000 · 96 % ━━─── → master: SET … OK; 锁 é\n"
	const want = "A  |--|##.x>  lease until 3.000 - 96 % ##--- > master: SET ~ OK; 锁 é\n"
	for size := 1; size <= len(text); size++ {
		f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
		if err != nil {
			t.Fatal(err)
		}
		var w io.Writer = &asciiTerminal{file: f}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if wrote, err := io.WriteString(w, rest[:n]); wrote != n || err != nil {
				t.Fatalf("wrote %d of %d bytes, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		got, err := os.ReadFile(f.Name())
		if err != nil || string(got) != want {
			t.Errorf("in pieces of %d bytes: %q, %v, want %q", size, got, err, want)
		}
		if fileOf(voice{Writer: w}) != f {
			t.Error("the file of the terminal is not found")
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
