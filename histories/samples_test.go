package histories

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func samples() []Sample {
	const ms = time.Millisecond
	return []Sample{
		{Time: 0, Process: "master", PID: 7, CPU: 100 * ms, Resident: 8000, Threads: 5},
		{Time: 0, Process: Harness, PID: 1, CPU: 500 * ms, Resident: 40000, Threads: 12},
		{Time: 250 * ms, Process: "master", PID: 7, CPU: 110 * ms, Resident: 9000, Threads: 4, Stopped: true},
		{Time: 500 * ms, Process: "master", PID: 9, CPU: 30 * ms, Resident: 7000, Threads: 5},
	}
}

func TestSamplesReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSamples(&b, samples()); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSamples(&b, SamplesFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(samples(), got); diff != "" {
		t.Error(diff)
	}
}

func TestBadSamples(t *testing.T) {
	for text, want := range map[string]string{
		`{"time":1,"pid":2}` + "\n":             `"process"`,
		`{"process":"master","pit":2}` + "\n":   "pit",
		`{"process":"master","pid":"a"}` + "\n": "pid",
	} {
		if _, err := ReadSamples(strings.NewReader(text), SamplesFile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", text, err, want)
		}
	}
}

// A process that was started again began at 0, and had not run when the run began.
func TestSum(t *testing.T) {
	const ms = time.Millisecond
	want := []Usage{
		{Process: "master", Samples: 3, Over: 500 * ms, CPU: 40 * ms, Resident: 9000, Threads: 5},
		{Process: Harness, Samples: 1, Resident: 40000, Threads: 12},
	}
	got := Sum(samples())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if share := got[0].Share(); share < 0.0799 || share > 0.0801 {
		t.Errorf("the master took %v of a processor, want 0.08", share)
	}
	if share := got[1].Share(); share != 0 {
		t.Errorf("one look shows a share of %v", share)
	}
}
