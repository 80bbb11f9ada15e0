package histories

import (
	"bufio"
	"encoding/json"
	"io"
	"time"
)

// A Sample is what one process took of the machine, at one look. Times are on the run's
// clock, as those of events are.
type Sample struct {
	Time     time.Duration `json:"time"`
	Process  string        `json:"process"` // the node, the client, or Harness
	PID      int           `json:"pid"`
	CPU      time.Duration `json:"cpu"`      // since the process began, in nanoseconds
	Resident int64         `json:"resident"` // bytes of memory
	Threads  int           `json:"threads"`
	Stopped  bool          `json:"stopped,omitempty"` // it stood still, as after SIGSTOP
}

// Harness is the name of lockbench's own process in samples.
const Harness = "lockbench"

const sampleFields = "time, process, pid, cpu, resident, threads or stopped"

// WriteSamples writes one line per sample.
func WriteSamples(w io.Writer, samples []Sample) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for _, s := range samples {
		if err := lines.Encode(s); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadSamples reads what WriteSamples wrote. Its errors are as those of ReadJSONL.
func ReadSamples(r io.Reader, name string) ([]Sample, error) {
	var samples []Sample
	err := decodeLines(r, &lineDecoder{name: name, unit: "sample"}, stateless(parseSample), func(s Sample) error {
		samples = append(samples, s)
		return nil
	})
	return samples, err
}

func parseSample(line []byte) (Sample, error) {
	var s *Sample
	err := strict(line, &s, sampleFields)
	switch {
	case err != nil:
		return Sample{}, err
	case s == nil || s.Process == "":
		return Sample{}, missing("process")
	}
	return *s, nil
}

// Usage is what the samples of one process say together. A process that was started
// again under the same name counts on.
type Usage struct {
	Process  string        `json:"process"`
	Samples  int           `json:"samples"`
	Over     time.Duration `json:"over"`     // from the first sample to the last
	CPU      time.Duration `json:"cpu"`      // taken in that time
	Resident int64         `json:"resident"` // bytes of memory, the most seen
	Threads  int           `json:"threads"`  // the most seen
}

// Share is how much of one processor the process took, 1 being all of it.
func (u Usage) Share() float64 {
	if u.Over <= 0 {
		return 0
	}
	return float64(u.CPU) / float64(u.Over)
}

// Sum sums samples up by process, in the order in which processes appear. Samples are in
// the order of their times.
func Sum(samples []Sample) []Usage {
	type tally struct {
		Usage
		first, last Sample
	}
	var all []*tally
	at := map[string]*tally{}
	for _, s := range samples {
		t := at[s.Process]
		switch {
		case t == nil:
			t = &tally{Usage: Usage{Process: s.Process}, first: s}
			at[s.Process] = t
			all = append(all, t)
		case t.last.PID == s.PID:
			t.CPU += s.CPU - t.last.CPU
		default: // it began between the two looks
			t.CPU += s.CPU
		}
		t.last = s
		t.Samples++
		t.Over = s.Time - t.first.Time
		t.Resident = max(t.Resident, s.Resident)
		t.Threads = max(t.Threads, s.Threads)
	}
	var sums []Usage
	for _, t := range all {
		sums = append(sums, t.Usage)
	}
	return sums
}
