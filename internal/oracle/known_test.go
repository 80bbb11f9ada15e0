package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// A wish is what is wanted of a verdict.
type wish string

const (
	acquit wish = "acquit" // anything but Fail
	accuse wish = "accuse" // Fail
	doubt  wish = "doubt"  // Fail or Unknown: something is certainly wrong, and it may not be this
)

func (w wish) met(v checker.Verdict) bool {
	switch w {
	case acquit:
		return v != checker.Fail && v != checker.Disagreement
	case accuse:
		return v == checker.Fail
	case doubt:
		return v == checker.Fail || v == checker.Unknown
	}
	return false
}

// A known is a small history whose verdicts are known from reading it.
type known struct {
	name    string
	history string // see parse
	at      time.Duration
	want    map[checker.Property]wish
	open    bool // the checker is known to be wrong about it
}

func acquits(properties ...checker.Property) map[checker.Property]wish {
	return wishes(acquit, properties)
}
func accuses(properties ...checker.Property) map[checker.Property]wish {
	return wishes(accuse, properties)
}
func doubts(properties ...checker.Property) map[checker.Property]wish {
	return wishes(doubt, properties)
}

func wishes(w wish, properties []checker.Property) map[checker.Property]wish {
	m := map[checker.Property]wish{}
	for _, p := range properties {
		m[p] = w
	}
	return m
}

// check asks the checker about a history, shifted by at.
func check(t testing.TB, h history, at time.Duration, properties ...checker.Property) checker.Report {
	t.Helper()
	events := h.events()
	for i := range events {
		events[i].Time += at
	}
	if err := histories.Validate(events); err != nil {
		t.Fatalf("%v is no history: %v", h, err)
	}
	return checker.Check(t.Context(), events, checker.Options{Properties: properties})
}

// TestKnown: what is wanted of small histories is what the checker says, but of open ones. An
// open one that has come right fails the test, so that its mark goes.
func TestKnown(t *testing.T) {
	for _, k := range knownHistories() {
		t.Run(k.name, func(t *testing.T) {
			h, err := parse(k.history)
			if err != nil {
				t.Fatal(err)
			}
			wrong := ""
			for p, want := range k.want {
				if got := check(t, h, k.at, p).Result(p); !want.met(got.Verdict) {
					wrong += string(p) + " is " + got.Verdict.String() + ", want: " + string(want) + ". " + got.Story + "\n"
				}
			}
			switch {
			case wrong != "" && !k.open:
				t.Errorf("%s\n%s", k.history, wrong)
			case wrong == "" && k.open:
				t.Errorf("%s: all verdicts are as wanted; delete its open mark", k.history)
			}
		})
	}
}

// TestRegisterOfPairs: Jepsen's independent keys are told from values that are pairs.
func TestRegisterOfPairs(t *testing.T) {
	for name, log := range map[string]string{
		"another key's write between": `
			0 :invoke :write [1 3]
			0 :ok :write [1 3]
			0 :invoke :write [2 4]
			0 :ok :write [2 4]
			1 :invoke :read [1 nil]
			1 :ok :read [1 3]`,
		"nothing written yet": `
			1 :invoke :read [1 nil]
			1 :ok :read [1 nil]
			0 :invoke :write [1 3]
			0 :ok :write [1 3]`,
	} {
		var lines strings.Builder
		for line := range strings.Lines(log) {
			if line = strings.TrimSpace(line); line != "" {
				lines.WriteString("INFO jepsen.util - " + line + "\n")
			}
		}
		var events []histories.Event
		d := histories.Decoder{Name: "log", Format: histories.JepsenLog}
		err := d.Decode(strings.NewReader(lines.String()), func(e histories.Event) error {
			events = append(events, e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r := checker.CheckModel(t.Context(), events, checker.Register, checker.Options{})
		if got := r.Result(checker.Linearizability); got.Verdict == checker.Fail {
			t.Errorf("%s: %v, want anything but fail: %s", name, got.Verdict, got.Story)
		}
	}
}
