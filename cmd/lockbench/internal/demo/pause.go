package demo

import (
	"io"
	"slices"

	"github.com/lockbench/lockbench/internal/report"
)

// Back is the key that goes back a slide, also where b is a choice.
const Back = '\b'

// Pause tells a lesson slide by slide. After each it calls key with what to say while it waits, and goes
// on, goes back, or takes the key for the answer to a question; how many answers were right is told at
// the end. An error of key ends the telling and is returned.
func Pause(out io.Writer, l Lesson, lang Language, style report.Style, key func(prompt string) (rune, error)) error {
	p := newPrinter(out, lang, style)
	w := walk{printer: p, slides: slides(l, lang), picked: map[*quiz]int{}}
	for i := 0; i < len(w.slides) && p.err == nil; {
		w.show(w.slides[i])
		if p.err != nil {
			break
		}
		if i == len(w.slides)-1 {
			w.score()
			break
		}
		pressed, err := key(w.prompt(w.slides[i]))
		if err != nil {
			return err
		}
		i = w.next(i, pressed)
	}
	return p.err
}

// walk is a reader's way through the slides.
type walk struct {
	*printer
	slides []slide
	picked map[*quiz]int // the first answers
}

func (w *walk) show(s slide) {
	w.slide(s)
	if s.asks != nil {
		w.question(s.asks)
	}
	if s.tells != nil {
		w.answer(s.tells)
	}
}

func (w *walk) prompt(s slide) string {
	if s.asks != nil {
		return w.lang.text("pause.choose")
	}
	return w.lang.text("pause.prompt")
}

// next is the slide that follows when a key was pressed at slide i.
func (w *walk) next(i int, pressed rune) int {
	if q := w.slides[i].asks; q != nil && pressed >= 'a' && int(pressed-'a') < len(q.choices) {
		if _, before := w.picked[q]; !before {
			w.picked[q] = int(pressed - 'a')
		}
		return i + 1
	}
	if pressed == Back || pressed == 'b' {
		if i == 0 {
			return 0
		}
		w.block(block{kind: para, text: w.lang.text("pause.back"), tone: quiet})
		return i - 1
	}
	return i + 1
}

// answer tells whether the reader was right.
func (w *walk) answer(q *quiz) {
	picked, ok := w.picked[q]
	if !ok {
		picked = -1
	}
	tone := plain
	switch {
	case q.right < 0 || picked < 0:
	case picked == q.right:
		tone = good
	default:
		tone = bad
	}
	w.block(block{kind: gap})
	w.block(block{kind: para, label: "  =  ", text: q.told(w.lang, picked), tone: tone})
}

// score tells how many answers were right.
func (w *walk) score() {
	asked, right := 0, 0
	for _, s := range w.slides {
		if s.asks == nil || s.asks.right < 0 {
			continue
		}
		asked++
		if picked, ok := w.picked[s.asks]; ok && picked == s.asks.right {
			right++
		}
	}
	if asked > 0 && slices.ContainsFunc(w.slides, func(s slide) bool { _, ok := w.picked[s.asks]; return s.asks != nil && ok }) {
		w.block(block{kind: gap})
		w.block(block{kind: para, text: w.lang.text("score", "right", right, "asked", asked), tone: strong})
	}
}
