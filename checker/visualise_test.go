package checker

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

func failover(t testing.TB) []histories.Event {
	t.Helper()
	file, err := histories.ReadFile("../internal/report/testdata/runs/failover/history.jsonl", false)
	if err != nil {
		t.Fatal(err)
	}
	return file.Events
}

func visualised(t testing.TB, events []histories.Event, res Result) string {
	t.Helper()
	var b strings.Builder
	if err := Visualise(&b, events, res); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVisualise(t *testing.T) {
	events := failover(t)
	report := Check(t.Context(), events, Options{})
	for _, p := range []Property{StrictExclusion, LeaseExclusion, LeaseHonoured} {
		page := visualised(t, events, report.Result(p))
		for _, want := range []string{
			`"Description":"A acquires"`, `"Description":"B acquires"`, `"Tag":"A lease"`, `"Description":"until 3.002 s"`,
			`"Tag":"fault: kill master"`, `"StateDescription":"held by A"`, `granted by event 10 at 0.0`,
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the drawing has no %s", p, want)
			}
		}
		if page != visualised(t, events, report.Result(p)) {
			t.Errorf("%s: drawn twice, the same violation gives two pages", p)
		}
	}
}

func TestVisualiseRefuses(t *testing.T) {
	events := failover(t)
	report := Check(t.Context(), events, Options{})
	strict := report.Result(StrictExclusion)
	for name, spoil := range map[string]func(*Result){
		"a result that holds": func(r *Result) { r.Verdict = Pass },
		"no witness":          func(r *Result) { r.Witness = nil },
		"another property":    func(r *Result) { r.Property = ResourceSafety },
		"another history":     func(r *Result) { r.Witness = []int{4000, 4001} },
	} {
		res := strict
		spoil(&res)
		var b strings.Builder
		if err := Visualise(&b, events, res); !errors.Is(err, ErrNothingToDraw) || b.Len() > 0 {
			t.Errorf("%s: %d bytes, error %v", name, b.Len(), err)
		}
	}
	// Holds that follow one another are no violation, whatever a result says.
	apart := script(t, `
		A acquire 1 2 ok
		A release 3 4 ok
		B acquire 5 6 ok`)
	var b strings.Builder
	err := Visualise(&b, apart, Result{Property: StrictExclusion, Verdict: Fail, Witness: []int{1, 5}})
	if err == nil || !strings.Contains(err.Error(), "finds an order") {
		t.Errorf("of a history without a violation: %v", err)
	}
}

// TestVisualiseHostileNames knows that porcupine puts what it is told into HTML.
func TestVisualiseHostileNames(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>&amp;"'` + "\u202e\x1b[31m"
	events := failover(t)
	for i := range events {
		if events[i].Key != "" {
			events[i].Key = evil + strings.Repeat("k", 1<<20)
		}
		if events[i].Process == histories.Nemesis {
			events[i].Node, events[i].Value = evil+events[i].Node, evil
		}
	}
	report := Check(t.Context(), events, Options{})
	page := visualised(t, events, report.Result(StrictExclusion))
	if n := strings.Count(page, "</script>"); n != 1 {
		t.Errorf("%d scripts end, want 1", n)
	}
	_, data, drawn := strings.Cut(page, "const data = ")
	if !drawn {
		t.Fatal("the page has no data")
	}
	if found := regexp.MustCompile(`[^\\]\\u00(3c|3e|26)|\x{202e}|\x1b`).FindString(data); found != "" {
		t.Errorf("a name was not made harmless: %q", found)
	}
	if len(page) > mostDrawnBytes {
		t.Errorf("%d bytes", len(page))
	}
}

// TestVisualiseIsBounded draws a lock that everybody is granted and nobody gives back.
func TestVisualiseIsBounded(t *testing.T) {
	var events []histories.Event
	for i := range 3000 {
		for _, typ := range []histories.Type{histories.Invoke, histories.OK} {
			events = append(events, histories.Event{
				Index: len(events), Time: time.Duration(len(events)) * time.Millisecond, Process: i, Worker: i, Type: typ,
				F: histories.Acquire, Key: "k", Attempt: uint64(i + 1),
			})
		}
	}
	report := Check(t.Context(), events, Options{Properties: []Property{StrictExclusion}})
	res := report.Result(StrictExclusion)
	if res.Verdict != Fail {
		t.Fatal(fmt.Sprint(report))
	}
	if page := visualised(t, events, res); len(page) > mostDrawnBytes {
		t.Errorf("%d bytes, want at most %d", len(page), mostDrawnBytes)
	}
}
