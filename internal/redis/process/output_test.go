package process

import (
	"fmt"
	"strings"
	"testing"
)

func TestOutputKeepsTheTail(t *testing.T) {
	o := &output{node: "n1", log: &lineLog{}}
	for i := range 2000 {
		_, err := fmt.Fprintf(o, "line %d\n", i)
		must(t, err)
	}
	got := o.String()
	if len(got) > tailSize || !strings.HasSuffix(got, "line 1998\nline 1999") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-30:])
	}
}

func TestOutputLogsWholeLines(t *testing.T) {
	var log strings.Builder
	o := &output{node: "n1", log: &lineLog{w: &log}}
	for _, part := range []string{"a", "b\nc", "\n\nd"} {
		_, err := o.Write([]byte(part))
		must(t, err)
	}
	if got, want := log.String(), "n1: ab\nn1: c\nn1: \n"; got != want {
		t.Errorf("log is %q, want %q", got, want)
	}
}
