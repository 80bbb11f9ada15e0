package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// made builds a history; a worker is its process.
type made struct{ events []histories.Event }

func (m *made) add(ms int, worker int, typ histories.Type, f histories.F, attempt uint64) *histories.Event {
	m.events = append(m.events, histories.Event{
		Index: len(m.events), Time: time.Duration(ms) * time.Millisecond, Process: worker, Worker: worker, Type: typ, F: f, Key: "k", Attempt: attempt,
	})
	return &m.events[len(m.events)-1]
}

// call adds a call that takes no time between others.
func (m *made) call(from, to, worker int, typ histories.Type, f histories.F, attempt uint64) *histories.Event {
	m.add(from, worker, histories.Invoke, f, attempt)
	return m.add(to, worker, typ, f, attempt)
}

func (m *made) fault(ms int, typ histories.Type, f histories.F, node string) {
	e := m.add(ms, histories.Nemesis, typ, f, 0)
	e.Node, e.Key = node, ""
}

// violates is a violation of a property by all of a history's attempts.
func (m *made) violates(p checker.Property, witness ...int) checker.Result {
	seen := map[uint64]bool{}
	res := checker.Result{Property: p, Verdict: checker.Fail, Witness: witness, Story: "So it was.", Window: &checker.Window{Last: len(m.events) - 1}}
	for _, e := range m.events {
		if e.Attempt != 0 && !seen[e.Attempt] {
			seen[e.Attempt] = true
			res.Attempts = append(res.Attempts, e.Attempt)
		}
	}
	return res
}

// pictureOf is the picture in what check says of a history, without the line above and below.
func pictureOf(t testing.TB, m made, style report.Style, results ...checker.Result) string {
	t.Helper()
	c := report.Check{Drawn: m.events, Report: checker.Report{Verdict: checker.Fail, Results: results}}
	_, text, found := strings.Cut(checkText(t, c, style), "So it was.\n\n")
	if !found {
		return ""
	}
	text, _, found = strings.Cut(text, "\n\n")
	if !found {
		t.Fatalf("the picture has no end:\n%s", text)
	}
	return text + "\n"
}

// pause is a holder that stands still past its lease, and writes.
func pause() made {
	var m made
	m.call(0, 1, 0, histories.OK, histories.Acquire, 1).Deadline = 3 * time.Second
	m.fault(2, histories.Invoke, "pause", "A")
	m.call(3001, 3002, 1, histories.OK, histories.Acquire, 2).Deadline = 6 * time.Second
	m.call(3003, 3004, 1, histories.OK, histories.Write, 2)
	m.fault(3005, histories.OK, "pause", "A")
	m.call(3006, 3007, 0, histories.Fail, histories.Write, 1)
	m.call(3008, 3009, 0, histories.Fail, histories.Release, 1)
	return m
}

func TestPicture(t *testing.T) {
	p := pause()
	var locked made // a refused wait, beside a holder that has crashed
	locked.call(0, 1, 0, histories.OK, histories.Acquire, 1)
	locked.add(5, 0, histories.Info, histories.Crash, 0)
	locked.call(6, 9000, 1, histories.Info, histories.Acquire, 2)
	audit := locked.add(9000, histories.Nemesis, histories.Info, histories.Audit, 0)
	audit.Node, audit.TTL = "master", histories.NoTTL
	var readers made
	for i, mode := range []histories.Mode{histories.Shared, histories.Exclusive} {
		readers.add(10*i, i, histories.Invoke, histories.Acquire, uint64(i+1)).Value = string(mode)
		e := readers.add(10*i+1, i, histories.OK, histories.Acquire, uint64(i+1))
		e.Value, e.Token = string(mode), int64(i+7)
	}
	for name, tc := range map[string]struct {
		m       made
		style   report.Style
		results []checker.Result
		want    string
	}{
		"two believe": {p, report.Style{Width: 80}, []checker.Result{
			p.violates(checker.StrictExclusion, 1, 4), p.violates(checker.LeaseExclusion, 1, 4), p.violates(checker.ResourceSafety, 6, 9),
		}, `  A        ├──┤█████████████████░░░░░░░░░░░░░░░░░░░░w✗░░├───✗  lease until 3.000
  B                                ├───┤███w████████████████▷  lease until 6.000
  nemesis         ┃pause A═════════════════════┃
              0.001            3.000   3.002        3.007
              ^1                       ^4  mutual exclusion and lease exclusion
                                           ^6       ^9  resource safety
  █ believes that it holds k · ░ though its lease is over · ├┤ acquire, release,
  ✗ refused · w write · time is not to scale
`},
		"never freed": {locked, report.Style{Width: 70}, []checker.Result{locked.violates(checker.DeadlockFreedom, 1, 3, 5)}, `  A        ├────┤████████†
  B                           ├────────────acquire─────────────?
  nemesis                                                audit master┃
                0.001         0.006                              9.000
                ^1            ^3                                     ^
           deadlock freedom
  █ believes that it holds k · ├┤ acquire, release, ? outcome unknown
  · † crash · time is not to scale
`},
		"readers": {readers, report.Style{Width: 90}, []checker.Result{readers.violates(checker.Fencing, 1, 3)}, `  A  ├──acquire──┤██████████████████████████████████████████████████████▷  reader, token 7
  B                                                        ├──acquire───┤  token 8
     0.000       0.001                                     0.010    0.011
                 ^1                                                     ^3  fencing
  █ believes that it holds k · ├┤ acquire, release · time is not to scale
`},
		"only load":    {p, report.Style{Width: 80}, []checker.Result{p.violates(checker.Load, 1, 4)}, ""},
		"a model's":    {p, report.Style{Width: 80}, []checker.Result{p.violates(checker.Linearizability, 1, 4)}, ""},
		"too narrow":   {p, report.Style{Width: 30}, []checker.Result{p.violates(checker.StrictExclusion, 1, 4)}, ""},
		"no window":    {p, report.Style{}, []checker.Result{{Property: checker.StrictExclusion, Verdict: checker.Fail, Witness: []int{1}, Attempts: []uint64{1}, Story: "So it was."}}, ""},
		"not recorded": {made{}, report.Style{}, []checker.Result{p.violates(checker.StrictExclusion, 1, 4)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, pictureOf(t, tc.m, tc.style, tc.results...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// One refused call says nothing that its story does not say.
func TestNoPictureOfOneCall(t *testing.T) {
	var m made
	m.call(0, 10, 0, histories.Fail, histories.Acquire, 1)
	if got := pictureOf(t, m, report.Style{}, m.violates(checker.Availability, 0, 1)); got != "" {
		t.Error(got)
	}
}

// Every event at one instant still has columns in the order of events.
func TestPictureOfAnInstant(t *testing.T) {
	var m made
	m.call(0, 0, 0, histories.OK, histories.Acquire, 1)
	m.call(0, 0, 1, histories.OK, histories.Acquire, 2)
	res := m.violates(checker.StrictExclusion, 1, 3)
	got := pictureOf(t, m, report.Style{Width: 60}, res)
	for _, want := range []string{"  A  ├", "  B  ", "^1 ", "0.000\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	res.Window, res.Witness = &checker.Window{First: 1, Last: 1}, []int{1} // no more than an event
	_ = pictureOf(t, m, report.Style{Width: 60}, res)
}

// A picture keeps to every width and stays a few lines, whatever the history is called and
// however much of it there is.
func TestPictureKeepsToTheWidth(t *testing.T) {
	big := pause()
	for i := range 50_000 {
		big.call(3100+i, 3100+i, i%9, histories.OK, histories.Read, uint64(i%40+1))
		if i%100 == 0 {
			big.fault(3100+i, histories.Invoke, histories.F(fmt.Sprint("fault-", i%300)), "node")
		}
	}
	results := []checker.Result{big.violates(checker.StrictExclusion, 1, 4), big.violates(checker.ResourceSafety, 6, 9, 90_000)}
	for _, s := range append(hostile, "k", "<script>alert(1)</script>", strings.Repeat("\x1b[31m", 200_000)) {
		m := pause()
		for i := range m.events {
			m.events[i].Key, m.events[i].Node, m.events[i].Err, m.events[i].Value = s, s, s, s
			if m.events[i].Process == histories.Nemesis {
				m.events[i].F = histories.F(s)
			}
		}
		for width := 40; width <= 200; width += 7 {
			checkPicture(t, pictureOf(t, m, report.Style{Width: width}, m.violates(checker.StrictExclusion, 1, 4)), width)
		}
	}
	for _, width := range []int{40, 80, 200} {
		checkPicture(t, pictureOf(t, big, report.Style{Width: width}, results...), width)
	}
}

func checkPicture(t *testing.T, picture string, width int) {
	t.Helper()
	if picture == "" {
		t.Errorf("width %d: no picture", width)
	}
	checkHarmless(t, picture)
	for l := range strings.Lines(picture) {
		l = strings.TrimSuffix(l, "\n")
		if n := utf8.RuneCountInString(l); n > width {
			t.Errorf("%d columns where %d are wanted: %s", n, width, l)
		}
	}
	if n := strings.Count(picture, "\n"); n > 16 {
		t.Errorf("%d lines at width %d:\n%s", n, width, picture)
	}
}

// BenchmarkPicture draws the first violation of ever longer histories: the time grows as they do.
func BenchmarkPicture(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		m := pause()
		for i := range n / 2 {
			m.call(3100+i, 3100+i, i%9, histories.OK, histories.Read, uint64(i%40+1))
		}
		res := m.violates(checker.StrictExclusion, 1, 4)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				pictureOf(b, m, report.Style{Width: 100}, res)
			}
		})
	}
}
