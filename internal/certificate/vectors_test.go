package certificate_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/certificate"
)

// TestVectors: of each directory of testdata, a verifier accepts the certificates whose names begin with
// accept, rejects those that begin with reject, and says of those that begin with foreign that they
// are of another history, or of other commands, and of those that begin with no that they are no certificates.
// What options.json has is in the terms of the certificates. What crossed the wire is in commands.jsonl.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, file := range files {
		history, err := os.ReadFile(filepath.Join(filepath.Dir(file), "history.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "options.json" {
			continue
		}
		want, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		count[want]++
		c, err := certificate.Read(bytes.NewReader(text))
		if err == nil {
			err = certificate.Verify(bytes.NewReader(history), sent(t, filepath.Dir(file)), c)
		}
		if got := kind(err); got != want {
			t.Errorf("%s: %s (%v)", file, got, err)
		}
	}
	for _, want := range []string{"accept", "reject", "foreign", "no"} {
		if count[want] < 2 {
			t.Errorf("%d vectors of the kind %s, want 2", count[want], want)
		}
	}
}

// sent are the commands of a vector, or nil.
func sent(t *testing.T, dir string) io.Reader {
	t.Helper()
	commands, err := os.ReadFile(filepath.Join(dir, "commands.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(commands)
}

// kind is how the name of a vector begins that comes to an error.
func kind(err error) string {
	if err == nil {
		return "accept"
	}
	if _, ok := errors.AsType[*certificate.RejectedError](err); ok {
		return "reject"
	}
	if _, ok := errors.AsType[*certificate.ForeignError](err); ok {
		return "foreign"
	}
	if _, ok := errors.AsType[*certificate.ForeignCommandsError](err); ok {
		return "foreign"
	}
	if _, ok := errors.AsType[*certificate.FormatError](err); ok {
		return "no"
	}
	return "history"
}
