package main

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"python3 worker.py":           {"python3", "worker.py"},
		"  a\tb  c\n":                 {"a", "b", "c"},
		`'my worker' "a b" c\ d`:      {"my worker", "a b", "c d"},
		`a'b 'c"d"`:                   {"ab cd"},
		`"a\"b" '\' ""`:               {`a"b`, `\`, ""},
		"":                            nil,
		"'open":                       nil,
		`open\`:                       nil,
		"$HOME/w *":                   {"$HOME/w", "*"}, // as they are
		`C:\\worker.exe "Grüß Gott!"`: {`C:\worker.exe`, "Grüß Gott!"},
	} {
		got, err := split(line)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("split(%q) is %q, %v, want %q", line, got, err, want)
		}
	}
}

// TestQuoted checks that the replay command has the worker's command as one word.
func TestQuoted(t *testing.T) {
	for _, line := range []string{"self", "python3 worker.py", `'my worker' "a b" c\ d`, "$HOME/w"} {
		got, err := split("--worker " + quoted(line))
		if err != nil || len(got) != 2 || got[1] != line {
			t.Errorf("%q comes back as %q, %v", line, got, err)
		}
	}
}
