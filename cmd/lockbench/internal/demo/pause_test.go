package demo

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/story"
)

// reads tells a lesson to a reader who presses keys, and returns what is shown before each of them and after
// the last one. After the keys that are given the reader goes on.
func reads(t *testing.T, l Lesson, lang Language, press func(prompt, shown string) rune) []string {
	t.Helper()
	var b bytes.Buffer
	var shown []string
	err := Pause(&b, l, lang, report.Style{Width: 80}, func(prompt string) (rune, error) {
		shown = append(shown, b.String())
		b.Reset()
		return press(prompt, shown[len(shown)-1]), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(shown, b.String())
}

// TestPauseFits checks that the reader is asked to go on after every step, that no slide is too long for a
// terminal, and that an error ends the telling at once.
func TestPauseFits(t *testing.T) {
	for _, d := range All() {
		for _, lang := range Languages() {
			l := lesson(t, d)
			shown := reads(t, l, lang, func(string, string) rune { return ' ' })
			if steps := 2 * len(l.Scenario.Script.Steps); len(shown) < steps {
				t.Errorf("%s in %s: %d slides, want at least one for each of %d steps", d.Name, lang.Name, len(shown), steps)
			}
			for _, s := range shown {
				if n := strings.Count(s, "\n"); n > 24 {
					t.Errorf("%s in %s: %d lines do not fit on a terminal:\n%s", d.Name, lang.Name, n, s)
				}
			}
		}
	}
	enough := errors.New("enough")
	var b bytes.Buffer
	err := Pause(&b, lesson(t, find(t, "get-del")), Languages()[0], report.Style{}, func(string) (rune, error) { return 0, enough })
	if !errors.Is(err, enough) || strings.Contains(b.String(), "tries to acquire") {
		t.Errorf("%v, and told until then:\n%s", err, b.String())
	}
	if err := Pause(full{}, lesson(t, find(t, "get-del")), Languages()[0], report.Style{}, func(string) (rune, error) { return ' ', nil }); err == nil {
		t.Error("what nobody can read was told")
	}
}

// TestAnswersAreRecorded checks the right answers against the histories of the runs: who was granted the lock, and
// what became of a write, is read from the events and not from what the demos tell.
func TestAnswersAreRecorded(t *testing.T) {
	for _, d := range All() {
		l := lesson(t, d)
		asked := slices.DeleteFunc(slides(l, Languages()[0]), func(s slide) bool { return s.asks == nil })
		if len(asked) != 2 {
			t.Errorf("%s asks %d times, want once of each lock", d.Name, len(asked))
			continue
		}
		for i, res := range both(l) {
			q := asked[i].asks
			if q.right < 0 {
				t.Errorf("%s: no answer is right of %s", d.Name, res.Config.Lock.Name)
				continue
			}
			if got, want := keyOf(t, d.Ask.About, q), outcome(t, d, res); got != want {
				t.Errorf("%s: of %s the right answer is %q, and the events say %q", d.Name, res.Config.Lock.Name, got, want)
			}
		}
		if a, b := keyOf(t, d.Ask.About, asked[0].asks), keyOf(t, d.Ask.About, asked[1].asks); a == b && d.Ask.About != theLock {
			t.Errorf("%s: the answer is %q of both locks, so that the question decides nothing", d.Name, a)
		}
	}
}

// keyOf is the key of the right choice.
func keyOf(t *testing.T, about topic, q *quiz) string {
	t.Helper()
	for _, key := range about.choices() {
		for _, client := range []string{"A", "B", "C"} {
			if Languages()[0].text("choice."+string(about)+"."+key, "client", client) == q.choices[q.right] {
				return key
			}
		}
	}
	t.Fatalf("%q is no choice", q.choices[q.right])
	return ""
}

// outcome is what the events say of the question of a demo.
func outcome(t *testing.T, d Demo, res harness.Result) string {
	t.Helper()
	step := func(line string, nth int) int {
		for i, shot := range res.Snapshots {
			if shot.Step.Verb != "" && shot.Step.String() == line {
				if nth--; nth <= 0 {
					return i
				}
			}
		}
		t.Fatalf("%s: no step %q", d.Name, line)
		return 0
	}
	from := step(d.Ask.Step, d.Ask.Nth)
	to := from
	if d.Ask.Until != "" {
		to = step(d.Ask.Until, 1)
	}
	client := int(res.Snapshots[from].Step.Who[0][0] - 'A')
	events := res.Events[res.Snapshots[from-1].Events:res.Snapshots[to].Events]
	of := func(kind histories.Type, f histories.F) []histories.Event {
		return slices.DeleteFunc(slices.Clone(events), func(e histories.Event) bool {
			return e.Worker != client || e.Process == histories.Nemesis || e.Type != kind || e.F != f
		})
	}
	granted, refused := of(histories.OK, histories.Acquire), of(histories.Fail, histories.Acquire)
	switch d.Ask.About {
	case theLock:
		if len(granted) == 0 {
			before := slices.DeleteFunc(slices.Clone(res.Events[:res.Snapshots[to].Events]), func(e histories.Event) bool {
				return e.Worker != client || e.Process == histories.Nemesis || e.F != histories.Acquire
			})
			if len(before) == 0 || before[len(before)-1].Type != histories.Fail && before[len(before)-1].Type != histories.Info {
				t.Fatalf("%s: %s was not refused", d.Name, res.Snapshots[from].Step.Who[0])
			}
			return "denied"
		}
		for _, h := range histories.Holds(res.Events) {
			if h.Worker != client && h.Believed() && h.Returned.Event < granted[0].Index && (h.Open() || h.Ended.Event > granted[0].Index) {
				return "both"
			}
		}
		return "alone"
	case theWait:
		switch {
		case len(granted) == 0:
			return "never"
		case len(refused) == 0:
			return "at-once"
		}
		return "later"
	case theWrite:
		if len(of(histories.Fail, histories.Write)) > 0 {
			return "refused"
		}
		if res.Report.Verdict == 0 || len(of(histories.OK, histories.Write)) == 0 {
			t.Fatalf("%s: nobody writes", d.Name)
		}
		return "lost"
	case theDraw:
		if len(of(histories.OK, histories.Draw)) > 0 {
			return "again"
		}
		return "done"
	}
	return ""
}

// TestQuiz answers the questions: right, wrong and not at all, in every order of keys.
func TestQuiz(t *testing.T) {
	l, lang := lesson(t, find(t, "get-del")), Languages()[0]
	right := map[bool]rune{} // by whether it is asked again
	for _, s := range slides(l, lang) {
		if s.asks != nil {
			right[s.asks.again] = rune(letter(s.asks.right)[0])
		}
	}
	wrong := func(r rune) rune { return 'a' + (r-'a'+1)%3 }
	for name, tc := range map[string]struct {
		first, second rune
		says          []string
		score         string
	}{
		"both right": {right[false], right[true], []string{"Right, it is"}, "You were right 2 of 2 times."},
		"one wrong":  {wrong(right[false]), right[true], []string{"You said", "Right, it is"}, "You were right 1 of 2 times."},
		"one only":   {' ', right[true], []string{"It is", "Right, it is"}, "You were right 1 of 2 times."},
		"none":       {' ', ' ', []string{"It is"}, ""},
	} {
		answers := []rune{tc.first, tc.second}
		all := strings.Join(reads(t, l, lang, func(prompt, _ string) rune {
			if strings.Contains(prompt, "your guess") {
				a := answers[0]
				answers = answers[1:]
				return a
			}
			return ' '
		}), "")
		for _, want := range append(tc.says, tc.score) {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not told", name, want)
			}
		}
		if tc.score == "" && strings.Contains(all, "You were right") {
			t.Errorf("%s: a score is told of no answer", name)
		}
	}
}

// TestBack goes back: b shows the slide before again, also from a question where the arrow does, and the first
// answer counts.
func TestBack(t *testing.T) {
	l, lang := lesson(t, find(t, "get-del")), Languages()[0]
	keys := []rune{'b', ' ', ' ', 'b', ' '}
	shown := reads(t, l, lang, func(string, string) rune {
		if len(keys) == 0 {
			return ' '
		}
		k := keys[0]
		keys = keys[1:]
		return k
	})
	if shown[0] != shown[1] {
		t.Error("b on the first slide does not show it again")
	}
	if !strings.HasSuffix(shown[4], shown[2]) || !strings.Contains(shown[4], "(back)") || shown[5] != shown[3] {
		t.Errorf("b does not go back by a slide:\n%s", strings.Join(shown[2:6], "\n====\n"))
	}
	asked, arrows := 0, 1
	var right rune
	for _, s := range slides(l, lang) {
		if s.asks != nil && !s.asks.again {
			right = rune(letter(s.asks.right)[0])
		}
	}
	all := strings.Join(reads(t, l, lang, func(prompt, _ string) rune {
		if !strings.Contains(prompt, "your guess") {
			return ' '
		}
		if asked++; arrows > 0 {
			arrows--
			return Back
		}
		return right
	}), "")
	if asked != 3 || !strings.Contains(all, "(back)") {
		t.Errorf("asked %d times, want twice the first question and once the second", asked)
	}
}

// TestTopics checks which choice recorded scenes make true, also where none is.
func TestTopics(t *testing.T) {
	call := func(kind histories.Type) histories.Event { return histories.Event{Type: kind, F: histories.Acquire} }
	with := []story.Meeting{{Holder: story.Belief{Hold: histories.Hold{Worker: 1}}}} // of B with A
	for name, tc := range map[string]struct {
		about topic
		scene scene
		want  string
	}{
		"granted":             {theLock, scene{events: []histories.Event{call(histories.OK)}}, "alone"},
		"beside another":      {theLock, scene{events: []histories.Event{call(histories.OK)}, meetings: with}, "both"},
		"refused":             {theLock, scene{events: []histories.Event{call(histories.Fail)}}, "denied"},
		"gets an error":       {theLock, scene{events: []histories.Event{call(histories.Info)}, beliefs: []belief{{client: "A", opinion: unsure}}}, "denied"},
		"was refused before":  {theLock, scene{beliefs: []belief{{client: "A", opinion: refused}}}, "denied"},
		"unknown":             {theLock, scene{events: []histories.Event{call(histories.Info)}}, ""},
		"another's":           {theLock, scene{events: []histories.Event{{Worker: 1, Type: histories.OK, F: histories.Acquire}}}, ""},
		"at once":             {theWait, scene{events: []histories.Event{call(histories.OK)}}, "at-once"},
		"later":               {theWait, scene{events: []histories.Event{call(histories.Fail), call(histories.OK)}}, "later"},
		"never":               {theWait, scene{events: []histories.Event{call(histories.Fail), call(histories.Fail)}}, "never"},
		"overwrites":          {theWrite, scene{accesses: []access{{client: "A", write: true, version: 1}}}, "lost"},
		"on top":              {theWrite, scene{accesses: []access{{client: "A", write: true, version: 1, seen: 1}}}, "kept"},
		"turned away":         {theWrite, scene{accesses: []access{{client: "A", write: true, refused: "stale"}}}, "refused"},
		"only reads":          {theWrite, scene{accesses: []access{{client: "A"}}}, ""},
		"draws again":         {theDraw, scene{accesses: []access{{client: "A", write: true, draw: true, drawn: "B"}}}, "again"},
		"finds it drawn":      {theDraw, scene{accesses: []access{{client: "A", write: true, draw: true, drawn: "B", done: true, refused: "done"}}}, "done"},
		"does not get to it":  {theDraw, scene{events: []histories.Event{call(histories.Fail)}}, "no-lock"},
		"is the first":        {theDraw, scene{accesses: []access{{client: "A", write: true, draw: true}}}, ""},
		"got it, did nothing": {theDraw, scene{events: []histories.Event{call(histories.OK)}}, ""},
	} {
		if got := tc.about.answer("A", []scene{tc.scene}); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// TestAsked checks that a question finds its steps, and says so where the run has none.
func TestAsked(t *testing.T) {
	var all []scene
	for _, line := range []string{"C acquire", "C release", "C acquire", "C draw 1"} {
		steps, err := schedule.ParseSteps(3, line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, scene{step: steps[0]})
	}
	for name, tc := range map[string]struct {
		q        Question
		from, to int
		ok       bool
	}{
		"the first":  {Question{Step: "C acquire"}, 0, 0, true},
		"the second": {Question{Step: "C acquire", Nth: 2}, 2, 2, true},
		"a stretch":  {Question{Step: "C acquire", Nth: 2, Until: "C draw 1"}, 2, 3, true},
		"no such":    {Question{Step: "B acquire"}, -1, -1, false},
		"no third":   {Question{Step: "C acquire", Nth: 3}, -1, -1, false},
	} {
		if from, to, ok := tc.q.asked(all); from != tc.from || to != tc.to || ok != tc.ok {
			t.Errorf("%s: %d, %d, %v, want %d, %d, %v", name, from, to, ok, tc.from, tc.to, tc.ok)
		}
	}
}
