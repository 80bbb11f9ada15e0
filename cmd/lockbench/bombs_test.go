package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// TestBombs checks that what a compressed file unpacks to is not kept: a line without an end, and
// lines without end.
func TestBombs(t *testing.T) {
	effort.Long(t)
	const unpacked = 64 << 20
	for name, test := range map[string]struct {
		again string
		args  []string
		want  string
	}{
		"line.jsonl.gz":  {strings.Repeat("x", 1000), nil, "is no history: line.jsonl.gz:1: the line is longer than 16 MiB, want one event; 0 events before it are sound\n"},
		"left.jsonl.gz":  {strings.Repeat("x", 1000), []string{"--lenient"}, "left.jsonl.gz is no history: none of its lines is an event\n"},
		"lines.jsonl.gz": {"x\n", []string{"--lenient"}, "lines.jsonl.gz:100001: more than 100000 lines are not sound, want a history; no more than that are left out; 0 events before it are sound\n"},
		"lines.edn.gz":   {"x\n", []string{"--lenient"}, "lines.edn.gz:100001: more than 100000 lines are not sound, want a history; no more than that are left out; 0 events before it are sound\n"},
		"blank.jsonl.gz": {strings.Repeat("\n", 1000), nil, "blank.jsonl.gz is no history: it has no events\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			file, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			out := gzip.NewWriter(file)
			if _, err := io.CopyN(out, &again{text: test.again}, unpacked); err != nil || out.Close() != nil || file.Close() != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"check", filepath.Base(name)}, test.args...), &stdout, &stderr)
			if code != exitUsage || !strings.HasSuffix(stderr.String(), test.want) || stdout.Len() > 0 {
				t.Errorf("exit code %d, %s%s", code, stderr.String(), stdout.String())
			}
		})
	}
}

// again is a text again and again.
type again struct {
	text string
	at   int
}

func (a *again) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		step := copy(p[n:], a.text[a.at:])
		n, a.at = n+step, (a.at+step)%len(a.text)
	}
	return len(p), nil
}
