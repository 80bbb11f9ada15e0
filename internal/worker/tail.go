package worker

import (
	"io"
	"strings"
	"sync"
)

// tailSize is how much of a worker's standard error is kept for messages, in bytes.
const tailSize = 2048

// tail passes on what is written to it and keeps the end.
type tail struct {
	w io.Writer // may be nil

	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - tailSize; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	if t.w != nil {
		_, _ = t.w.Write(b) // a log that cannot be written must not disturb the run
	}
	return len(b), nil
}

// String is the end of what was written, for the end of a sentence; empty if there is nothing.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := strings.TrimSpace(string(t.kept)); s != "" {
		return ", and wrote to its standard error:\n" + s + "\n"
	}
	return ""
}
