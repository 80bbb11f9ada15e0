package progress_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/progress"
)

// told is what is written of n steps that take a while each.
func told(n int, each time.Duration, columns func() int, tell func(t *progress.Teller, i int)) string {
	var b strings.Builder
	now := time.Hour // the clock need not begin at 0
	t := &progress.Teller{W: &b, Columns: columns, Now: func() time.Duration { return now }}
	t.Begin()
	for i := 1; i <= n; i++ {
		now += each
		tell(t, i)
	}
	t.End()
	return b.String()
}

func steps(n int) func(*progress.Teller, int) {
	return func(t *progress.Teller, i int) {
		t.Tell(float64(i)/float64(n), fmt.Sprintf("%d of %d runs", i, n), "P07 delete-without-check")
	}
}

func TestLinesElsewhere(t *testing.T) {
	want := `20 of 200 runs, 10 %, 90 s left  P07 delete-without-check
40 of 200 runs, 20 %, 80 s left  P07 delete-without-check
60 of 200 runs, 30 %, 70 s left  P07 delete-without-check
80 of 200 runs, 40 %, 60 s left  P07 delete-without-check
100 of 200 runs, 50 %, 50 s left  P07 delete-without-check
125 of 200 runs, 62 %, 38 s left  P07 delete-without-check
157 of 200 runs, 78 %, 22 s left  P07 delete-without-check
197 of 200 runs, 98 %, 1.5 s left  P07 delete-without-check
`
	if diff := cmp.Diff(want, told(200, 500*time.Millisecond, nil, steps(200))); diff != "" {
		t.Error(diff)
	}
	if got := told(99, 100*time.Millisecond, nil, steps(99)); got != "" {
		t.Errorf("of work that ends within 10 s it tells %q", got)
	}
	day := told(24*60, time.Minute, nil, steps(24*60))
	if n := strings.Count(day, "\n"); n < 200 || n > 300 {
		t.Errorf("%d lines in a day", n)
	}
}

func TestTheLineOfATerminal(t *testing.T) {
	got := told(4, time.Second, func() int { return 100 }, steps(4))
	want := "\r\x1b[K━━━━━━──────────────────  1 of 4 runs, 25 %  P07 delete-without-check" +
		"\r\x1b[K━━━━━━━━━━━━────────────  2 of 4 runs, 50 %, 2.0 s left  P07 delete-without-check" +
		"\r\x1b[K━━━━━━━━━━━━━━━━━━──────  3 of 4 runs, 75 %, 1.0 s left  P07 delete-without-check\r\x1b[K"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := told(4, 100*time.Millisecond, func() int { return 100 }, steps(4)); got != "" {
		t.Errorf("of work that is over at once it draws %q", got)
	}
	often := told(1000, time.Millisecond, func() int { return 100 }, steps(1000))
	if n := strings.Count(often, "\r"); n != 6 {
		t.Errorf("drawn %d times in a second, want 5 and once taken away", n)
	}
}

// A terminal that becomes narrower, or is none to speak of, is not written over its margin.
func TestWidth(t *testing.T) {
	width := 0
	drawn := told(300, time.Second, func() int { width = (width + 7) % 211; return width }, func(t *progress.Teller, i int) {
		t.Tell(float64(i)/300, strings.Repeat("long ", 60), "键键")
	})
	for i, line := range strings.Split(drawn, "\r\x1b[K")[1:] {
		width = (7 * (i + 1)) % 211
		if most := width - 1; most > 0 && i < 299 && utf8.RuneCountInString(line) > most {
			t.Fatalf("%d columns of %d: %q", utf8.RuneCountInString(line), width, line)
		}
	}
}

func TestWorkOfUnknownEnd(t *testing.T) {
	got := told(20, time.Second, func() int { return 60 }, func(t *progress.Teller, i int) {
		t.Tell(progress.Unknown, fmt.Sprintf("%d s of the run", i), "")
	})
	if !strings.Contains(got, "\r\x1b[K7 s of the run\r") || strings.Contains(got, "left") || strings.Contains(got, "%") {
		t.Errorf("%q", got)
	}
}

// What is told again and again without getting on has less and less time left, and never less than none.
func TestTimeLeftGoesOn(t *testing.T) {
	got := told(30, time.Second, func() int { return 60 }, func(t *progress.Teller, i int) {
		t.Tell(float64(min(i, 10))/20, "half", "")
	})
	for _, want := range []string{"half, 50 %, 10 s left", "half, 50 %, 5.0 s left", "half, 50 %, 0.0 s left"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in %q", want, got)
		}
	}
}

func TestHostileWords(t *testing.T) {
	for _, s := range []string{"\x1b[2J\x1b]0;t\x07", "a\rb\nc", "\u202e\u200b\u009b31m", "\xff\xfe", strings.Repeat("k", 1<<20)} {
		for _, columns := range []func() int{nil, func() int { return 80 }} {
			got := told(1, time.Minute, columns, func(t *progress.Teller, _ int) { t.Tell(0.5, s, s) })
			got = strings.ReplaceAll(strings.TrimSuffix(got, "\n"), "\r\x1b[K", "")
			if strings.ContainsAny(got, "\x1b\r\n\x07\u202e\u200b\u009b") || !utf8.ValidString(got) || len(got) > 2000 || got == "" {
				t.Errorf("%.200q", got)
			}
		}
	}
}

// Other output takes the line away first; many may tell and write at once.
func TestBeside(t *testing.T) {
	var b strings.Builder
	now := time.Duration(0)
	teller := &progress.Teller{W: &b, Columns: func() int { return 40 }, Now: func() time.Duration { return now }}
	teller.Begin()
	out := teller.Beside(&b)
	fmt.Fprintln(out, "seed 1")
	now = time.Second
	teller.Tell(0.5, "1 of 2", "")
	fmt.Fprintln(out, "seed 2")
	fmt.Fprintln(out, "seed 3")
	teller.End()
	want := "seed 1\n\r\x1b[K━━━━─────  1 of 2, 50 %\r\x1b[Kseed 2\nseed 3\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				teller.Tell(float64(i)/100, "x", "")
				fmt.Fprintln(out, "y")
			}
		})
	}
	wg.Wait()
}

func TestNobodyTells(t *testing.T) {
	var none *progress.Teller
	none.Begin()
	none.Tell(0.5, "x", "")
	none.End()
	if _, err := io.WriteString(none.Beside(io.Discard), "x"); err != nil {
		t.Error(err)
	}
}
