package process

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// tailSize is how much of a server's output is kept for error messages, in bytes.
const tailSize = 4096

// output receives what a server prints: it keeps the last tailSize bytes and passes
// whole lines on to the log.
type output struct {
	node string
	log  *lineLog

	mu   sync.Mutex
	tail []byte
	line []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = append(o.tail, p...)
	if extra := len(o.tail) - tailSize; extra > 0 {
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
	if !o.log.wanted() {
		return len(p), nil
	}
	o.line = append(o.line, p...)
	for {
		line, rest, found := bytes.Cut(o.line, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.log.printf("%s: %s", o.node, line)
		o.line = append(o.line[:0], rest...)
	}
}

// String returns the last tailSize bytes, trimmed.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(string(o.tail))
}

// lineLog writes whole lines to a writer that several servers share. A nil writer
// takes nothing.
type lineLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineLog) wanted() bool { return l.w != nil }

func (l *lineLog) printf(format string, args ...any) {
	if l.w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written must not disturb the run.
	_, _ = fmt.Fprintf(l.w, format+"\n", args...)
}
