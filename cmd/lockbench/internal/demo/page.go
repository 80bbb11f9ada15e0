package demo

import (
	_ "embed" // the template, the style and the script
	"fmt"
	"html/template"
	"io"
	"regexp"

	"github.com/lockbench/lockbench/internal/report/html"
)

//go:embed page/page.tmpl
var pageSource string

//go:embed page/style.css
var pageStyle string

//go:embed page/script.js
var pageScript string

// Page writes a lesson as one page that needs nothing else. With scripts it is stepped through with the arrow
// keys, and answers are told right or wrong; without, and on paper, it is read from beginning to end.
func Page(w io.Writer, l Lesson, lang Language) error {
	t, err := template.New("page").Funcs(template.FuncMap{"unbroken": unbroken}).Parse(pageSource)
	if err != nil {
		return fmt.Errorf("the template of the page is wrong: %w", err)
	}
	return t.Execute(w, newPage(slides(l, lang), lang))
}

// unbroken is a text as HTML in which no option of the command line is broken at its hyphens.
func unbroken(text string) template.HTML {
	option := regexp.MustCompile(`--[a-z][a-z-]*`)
	return template.HTML(option.ReplaceAllString(template.HTMLEscapeString(text), `<span class="option">$0</span>`))
}

// page is what the template shows.
type page struct {
	Lang, Policy, Title string
	Style               template.CSS
	Script              template.JS
	Slides              []pageSlide
	Words               struct{ Nav, Back, Next, Far, Keys string }
}

type pageSlide struct {
	Label  string // what it is called by who cannot see it
	Where  string // the part that it belongs to, if it does not begin with it
	Groups []group
	Quiz   *pageQuiz
	Answer *pageAnswer
	Scores []string // what is said of so many right answers; empty: this is not the last slide
}

// group is a block, or several rows or proofs that follow each other.
type group struct {
	Kind, Label, Mark, Text, Tone string
	Rows                          []pageRow
	Left, Right                   []pageRow
}

type pageRow struct {
	Label, Mark, Text, Tone string
	Wire                    bool
}

type pageQuiz struct {
	ID       int
	Question string
	Choices  []pageChoice
}

type pageChoice struct{ Letter, Text string }

type pageAnswer struct {
	ID, Right int
	Text      string   // what is said if nothing was picked
	Picked    []string // what is said of each choice
}

func newPage(all []slide, lang Language) page {
	p := page{
		Lang: lang.text("page.lang"), Policy: html.Policy(pageScript), Title: all[0].blocks[0].text,
		Style: template.CSS(pageStyle), Script: template.JS(pageScript),
	}
	w := &p.Words
	w.Nav, w.Back, w.Next, w.Far, w.Keys = lang.text("page.nav"), lang.text("page.back"), lang.text("page.next"), lang.text("page.far"), lang.text("page.keys")
	ids := map[*quiz]int{}
	where := ""
	counted := 0 // questions whose answer came true
	for i, s := range all {
		ps := pageSlide{Label: lang.text("page.slide", "number", i+1, "of", len(all)), Where: where, Groups: groups(s)}
		if len(s.blocks) > 0 && s.blocks[0].kind == rule {
			where, ps.Where = s.blocks[0].text, ""
		}
		if q := s.asks; q != nil {
			ids[q] = len(ids)
			if q.right >= 0 {
				counted++
			}
			ps.Quiz = &pageQuiz{ID: ids[q], Question: lang.text("question", "question", q.text)}
			for c, text := range q.choices {
				ps.Quiz.Choices = append(ps.Quiz.Choices, pageChoice{letter(c) + ")", text})
			}
		}
		if q := s.tells; q != nil {
			ps.Answer = &pageAnswer{ID: ids[q], Right: q.right, Text: q.told(lang, -1)}
			for c := range q.choices {
				ps.Answer.Picked = append(ps.Answer.Picked, q.told(lang, c))
			}
		}
		p.Slides = append(p.Slides, ps)
	}
	for right := range counted + 1 {
		last := &p.Slides[len(p.Slides)-1]
		last.Scores = append(last.Scores, lang.text("score", "right", right, "asked", counted))
	}
	return p
}

// groups are the blocks of a slide as the template takes them.
func groups(s slide) []group {
	var all []group
	for i, b := range s.blocks {
		name := map[kind]string{para: "para", command: "command", rule: "rule", step: "step", row: "row", proof: "proof", pair: "pair", heads: "pair"}[b.kind]
		switch {
		case b.kind == gap:
			continue
		case b.kind == row || b.kind == proof:
			if len(all) == 0 || all[len(all)-1].Kind != name {
				all = append(all, group{Kind: name})
			}
			last := &all[len(all)-1]
			last.Rows = append(last.Rows, pageRow{b.label, b.mark, b.text, b.tone.class(), b.wire})
			continue
		case s.part == opening && i == 0:
			continue // it is the title of the page
		}
		all = append(all, group{
			Kind: name, Label: b.label, Mark: b.mark, Text: b.text, Tone: b.tone.class(),
			Left: cells(b.left), Right: cells(b.right),
		})
	}
	return all
}

func cells(all []cell) []pageRow {
	var rows []pageRow
	for _, c := range all {
		rows = append(rows, pageRow{Text: c.text, Tone: c.tone.class()})
	}
	return rows
}

// class names a tone in the style of the page.
func (t tone) class() string {
	return map[tone]string{plain: "plain", strong: "strong", quiet: "quiet", good: "good", bad: "bad", asking: "asking"}[t]
}
