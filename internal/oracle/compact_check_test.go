package oracle

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/histories"
)

// TestCompact: what String writes, parse reads.
func TestCompact(t *testing.T) {
	for n := range uint64(500) {
		h, _ := generate(20251104, n)
		text := h.String()
		got, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got.String() != text {
			t.Errorf("read and written again it is\n%v, want\n%s", got, text)
		}
	}
}

func TestCompactRejects(t *testing.T) {
	for _, text := range []string{"", "A", "A acq", "A acq x ok", "A acq 0-x ok", "A lend 0-1 ok", "A acq 0-1 maybe", "A acq 0-1 ok token", "A ext(x) 0-1 ok", "A rel#x 0-1 ok", "A read 1 ok vx"} {
		if h, err := parse(text); err == nil {
			t.Errorf("%q is read as %v", text, h)
		}
	}
}

// TestEvents: a worker goes on under a new process after an outcome that nobody knows, and makes
// calls that overlap under several.
func TestEvents(t *testing.T) {
	for text, want := range map[string][]int{
		"A acq 0-1 ok · A rel 2-3 ok":                   {0, 0, 0, 0},
		"A acq 0-1 info · A rel 2-3 ok":                 {0, 0, 100, 100},
		"A acq 0- info · A rel 2-3 ok":                  {0, 100, 100},
		"A acq 0-1 ok · A ext 2-9 ok · A rel 3-4 ok":    {0, 0, 0, 100, 100, 0},
		"A acq 0-1 ok · A crash 2 · A acq 3-4 ok":       {0, 0, 0, 100, 100},
		"A acq 0-1 ok · B acq 2-3 refused · A rel 4 ok": {0, 0, 1, 1, 0, 0},
	} {
		h, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		events := h.events()
		for _, e := range events {
			got = append(got, e.Process)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: processes are %v, want %v", text, got, want)
		}
		if err := histories.Validate(events); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
