// Package progress tells people how far long work is: on a terminal in one line that is drawn
// again and again and taken away at the end, elsewhere in lines that come ever more seldom.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lockbench/lockbench/internal/words"
)

// Unknown is the share of work whose end nobody knows.
const Unknown = -1

// When progress is told, by the time since the work began.
const (
	firstDraw  = 500 * time.Millisecond // on a terminal; shorter work shows nothing
	drawPause  = 100 * time.Millisecond
	firstLine  = 10 * time.Second // elsewhere
	linePause  = 10 * time.Second // and at least a quarter of the time that has passed
	mostPause  = 5 * time.Minute
	firstGuess = 2 * time.Second // before, speed says nothing of the time that is left
)

// Teller tells of one piece of work. Its methods may be called from any goroutine, Begin first.
// A nil Teller tells nothing.
type Teller struct {
	W       io.Writer
	Columns func() int           // of the terminal that W is, asked anew for each line; nil: it is none
	Now     func() time.Duration // a monotonic clock

	mu     sync.Mutex
	began  time.Duration
	next   time.Duration // since began, when to tell again
	drawn  bool          // something is on the terminal
	share  float64       // that was told last
	at     time.Duration // when it was told, since began
	done   string
	detail string
}

// Begin starts the clock.
func (t *Teller) Begin() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began, t.next = t.Now(), firstLine
	if t.Columns != nil {
		t.next = firstDraw
	}
}

// Tell says which share of the work is done, from 0 to 1 or Unknown, the same in words, and
// what was done last. The words are cleaned of what moves a cursor.
func (t *Teller) Tell(share float64, done, detail string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.Now() - t.began
	if share != t.share || share == Unknown {
		t.share, t.at = share, now
	}
	t.done, t.detail = clean(done), clean(detail)
	if now < t.next || share >= 1 {
		return
	}
	if t.Columns == nil {
		t.next = now + min(max(linePause, now/4), mostPause)
		fmt.Fprintln(t.W, t.line(now))
		return
	}
	t.next = now + drawPause
	t.drawn = true
	fmt.Fprint(t.W, "\r\x1b[K"+t.drawing(now))
}

// End takes away what is on the terminal.
func (t *Teller) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
}

func (t *Teller) clear() {
	if t.drawn {
		t.drawn = false
		fmt.Fprint(t.W, "\r\x1b[K")
	}
}

// Beside returns a writer of other output that may be on the same terminal: before each write
// the line is taken away.
func (t *Teller) Beside(w io.Writer) io.Writer { return beside{t, w} }

type beside struct {
	t *Teller
	w io.Writer
}

func (b beside) Write(p []byte) (int, error) {
	if b.t == nil {
		return b.w.Write(p)
	}
	b.t.mu.Lock()
	defer b.t.mu.Unlock()
	b.t.clear()
	return b.w.Write(p)
}

// left guesses how long the work will still take.
func (t *Teller) left(now time.Duration) (string, bool) {
	if now < firstGuess || t.share <= 0 {
		return "", false
	}
	whole := time.Duration(float64(t.at) / t.share)
	return words.Rounded(max(whole-now, 0)) + " left", true
}

// line is what is told where lines stay.
func (t *Teller) line(now time.Duration) string {
	parts := []string{t.done}
	if t.share >= 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*t.share))
	}
	if left, ok := t.left(now); ok {
		parts = append(parts, left)
	}
	return strings.TrimRight(strings.Join(parts, ", ")+"  "+t.detail, " ")
}

// drawing is what is drawn on the terminal, with a column to spare so that nothing wraps.
func (t *Teller) drawing(now time.Duration) string {
	room := t.Columns() - 1
	if room <= 0 {
		room = 79
	}
	text := t.line(now)
	if cells := min(room/4, 24); t.share >= 0 && cells >= 8 {
		const full, empty = "━", "─"
		n := int(t.share * float64(cells))
		text = strings.Repeat(full, n) + strings.Repeat(empty, cells-n) + "  " + text
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), room)])
}

// clean leaves of a text what is harmless to a terminal, and not too much of it.
func clean(s string) string {
	const most = 200
	s = s[:min(len(s), 4*most)]
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
