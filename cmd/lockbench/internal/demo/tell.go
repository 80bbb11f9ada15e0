package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
)

// Tell tells a lesson from beginning to end.
func Tell(out io.Writer, l Lesson, lang Language, style report.Style) error {
	p := newPrinter(out, lang, style)
	for _, s := range slides(l, lang) {
		p.slide(s)
		if s.asks != nil && !s.asks.again {
			p.question(s.asks)
		}
	}
	return p.err
}

// List lists the demos in the order in which they teach.
func List(out io.Writer, lang Language, style report.Style) error {
	p := newPrinter(out, lang, style)
	p.para("", lang.text("list.head"), plain)
	p.line("")
	most := 0
	for _, d := range All() {
		most = max(most, len(d.Name))
	}
	for i, d := range All() {
		p.para(fmt.Sprintf("%3d  %s  ", i+1, pad(d.Name, most)), lang.text("demo."+d.Name+".title"), plain)
	}
	p.line("")
	p.para("", lang.text("list.how"), plain)
	return p.err
}

// slides tells a lesson in a language, with the parts in their order.
func slides(l Lesson, lang Language) []slide {
	t := &teller{lesson: l, lang: lang, told: map[string]bool{}}
	t.head()
	t.now.part = broken
	t.heading()
	t.play(l.Broken)
	t.verdict(l.Broken, t.name(l.Broken.Config, ""))
	t.why()
	t.now.part = fixed
	t.add(block{kind: rule, text: t.lang.text("part.fixed", "lock", t.name(l.Fixed.Config, l.Demo.FixRemedy))})
	t.play(l.Fixed)
	t.verdict(l.Fixed, t.name(l.Fixed.Config, l.Demo.FixRemedy))
	t.now.part = beside
	t.beside()
	t.end()
	return append(t.slides, t.now)
}

// teller makes the slides of a lesson.
type teller struct {
	lesson Lesson
	lang   Language
	slides []slide
	now    slide           // is not full yet
	told   map[string]bool // what has been explained
}

func (t *teller) add(b ...block) { t.now.blocks = append(t.now.blocks, b...) }

func (t *teller) gap() { t.add(block{kind: gap}) }

func (t *teller) para(label, text string, tone tone) {
	t.add(block{kind: para, label: label, text: text, tone: tone})
}

func (t *teller) row(label, text string, tone tone) {
	t.add(block{kind: row, label: label, text: text, tone: tone})
}

// turn ends the slide, so that the reader can read it.
func (t *teller) turn() {
	t.slides = append(t.slides, t.now)
	t.now = slide{part: t.now.part}
}

func (t *teller) head() {
	d, s := t.lesson.Demo, t.lesson.Scenario
	cfg := t.lesson.Broken.Config
	t.para("", t.own("title"), strong)
	t.para("", t.lang.text("head.about", "demo", d.Name, "id", s.ID, "scenario", s.Name, "seed", cfg.Seed,
		"backend", t.lang.text("backend."+cfg.Backend.Name)), quiet)
	t.gap()
	t.para("", t.own("intro"), plain)
	if t.lesson.Own != nil {
		t.gap()
		t.para("", t.lang.text("own.about", "broken", s.Broken().Lock, "lock", cfg.Lock.Name), plain)
	}
	t.gap()
	t.para("", t.lang.text("head.how", "ttl", trimmed(cfg.TTL), "key", cfg.Key), quiet)
	if cfg.Backend.Virtual() {
		t.para("", t.lang.text("head.embedded"), quiet)
	}
	t.turn()
}

// own is a text of the demo's own.
func (t *teller) own(part string) string {
	return t.lang.text("demo."+t.lesson.Demo.Name+"."+part, "ttl", trimmed(t.lesson.Broken.Config.TTL))
}

// heading begins the part of the broken lock, or of the reader's own in its place.
func (t *teller) heading() {
	name := t.name(t.lesson.Broken.Config, "")
	text := t.lang.text("part.broken", "lock", name)
	if t.lesson.Own != nil {
		text = t.lang.text("part.own", "lock", name)
	}
	t.add(block{kind: rule, text: text})
}

// play tells the steps of a run, and asks before the one that decides.
func (t *teller) play(res harness.Result) {
	cfg := res.Config
	commands := t.lang.said("lock."+cfg.Lock.Name, cfg.Lock.Title)
	if acquire, release, ok := strings.Cut(commands, "; "); ok {
		t.para("", t.lang.text("part.by", "acquire", acquire, "release", release), plain)
	} else {
		t.para("", t.lang.text("part.commands", "commands", commands), plain)
	}
	if cfg.Guard != resource.None {
		t.para("", t.lang.text("guard."+cfg.Guard.String()), plain)
	}
	all := scenes(res)
	from, to, asked := t.lesson.Demo.Ask.asked(all)
	var question *quiz
	before := scene{}
	for i, s := range all {
		if s.step.Verb == "" {
			t.afterwards(res, s)
			break
		}
		if asked && i == from {
			question = t.question(all[from : to+1])
			t.now.asks = question
			t.turn()
		}
		t.scene(res, i+1, s, before)
		if asked && i == to {
			t.now.tells = question
		}
		t.turn()
		before = s
	}
}

// question is what is asked before the scenes that answer it. In its own words the demo asks of its
// broken lock alone.
func (t *teller) question(answered []scene) *quiz {
	again := t.now.part == fixed
	text := t.own("question")
	if again || t.lesson.Own != nil {
		text = t.lang.text("question.next", "step", t.lang.step(answered[0].step))
	}
	turn := slices.IndexFunc(All(), func(d Demo) bool { return d.Name == t.lesson.Demo.Name })
	if again {
		turn++
	}
	q := t.quiz(t.lesson.Demo.Ask, answered, text, max(turn, 0))
	q.again = again
	return q
}

// name is a lock with the guard and the remedy that it has.
func (t *teller) name(cfg harness.Config, remedy string) string {
	name := cfg.Lock.Name
	if cfg.Guard != resource.None {
		name = t.lang.text("part.guarded", "lock", name, "guard", cfg.Guard)
	}
	if remedy != "" {
		name = t.lang.text("part.remedied", "lock", name, "remedy", remedy)
	}
	return name
}

func (t *teller) why() {
	t.gap()
	if why := t.lesson.Broken.Why; why != "" {
		t.para(t.lang.text("why.head"), t.lang.said("demo."+t.lesson.Demo.Name+".why", why), plain)
		t.gap()
	}
	if t.lesson.Own != nil && t.lesson.Broken.Report.Verdict == checker.Pass {
		t.para("", t.lang.text("own.survives", "lock", t.lesson.Broken.Config.Lock.Name), good)
		t.gap()
	}
	t.para(t.lang.text("fix.head"), t.own("fix"), plain)
	t.turn()
}

// end says how to go on.
func (t *teller) end() {
	all, lang := All(), ""
	if t.lang.Name != Languages()[0].Name {
		lang = " --lang " + t.lang.Name
	}
	t.gap()
	again := "lockbench run --scenario " + t.lesson.Scenario.Name
	if t.lesson.Own != nil {
		again += " " + t.lesson.Own.Flags
	}
	t.add(block{kind: command, label: t.lang.text("end.again"), text: again})
	at := slices.IndexFunc(all, func(d Demo) bool { return d.Name == t.lesson.Demo.Name })
	if at >= 0 && at+1 < len(all) {
		t.add(block{kind: command, label: t.lang.text("end.next"), text: "lockbench demo " + all[at+1].Name + lang})
	}
}
