package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/resource"
)

// widest is how many columns a demo is told in, however wide the terminal.
const widest = 100

// Tell tells a lesson. Between steps it calls pause, if that is not nil, with what to say
// while it waits; an error of pause ends the telling and is returned.
func Tell(out io.Writer, l Lesson, lang Language, style report.Style, pause func(prompt string) error) error {
	if style.Width <= 0 || style.Width > widest {
		style.Width = widest
	}
	t := &teller{out: out, lesson: l, lang: lang, style: style, pause: pause, told: map[string]bool{}}
	t.head()
	broken, fixed := t.name(l.Broken.Config, ""), t.name(l.Fixed.Config, l.Demo.FixRemedy)
	t.rule(t.lang.text("part.broken", "lock", broken))
	t.play(l.Broken, true)
	t.verdict(l.Broken, broken)
	t.why()
	t.rule(t.lang.text("part.fixed", "lock", fixed))
	t.play(l.Fixed, false)
	t.verdict(l.Fixed, fixed)
	t.end()
	return t.err
}

// List lists the demos in the order in which they teach.
func List(out io.Writer, lang Language, style report.Style) error {
	if style.Width <= 0 || style.Width > widest {
		style.Width = widest
	}
	t := &teller{out: out, lang: lang, style: style}
	t.para("", lang.text("list.head"), nil)
	t.line("")
	most := 0
	for _, d := range All() {
		most = max(most, len(d.Name))
	}
	for i, d := range All() {
		t.para(fmt.Sprintf("%3d  %s  ", i+1, pad(d.Name, most)), lang.text("demo."+d.Name+".title"), nil)
	}
	t.line("")
	t.para("", lang.text("list.how"), nil)
	return t.err
}

type teller struct {
	out    io.Writer
	lesson Lesson
	lang   Language
	style  report.Style
	pause  func(prompt string) error
	err    error           // the first; after it nothing is told
	told   map[string]bool // what has been explained
}

func (t *teller) head() {
	d, s := t.lesson.Demo, t.lesson.Scenario
	cfg := t.lesson.Broken.Config
	t.para("", t.own("title"), t.bold)
	t.para("", t.lang.text("head.about", "demo", d.Name, "id", s.ID, "scenario", s.Name, "seed", cfg.Seed,
		"backend", t.lang.text("backend."+cfg.Backend.Name)), t.dim)
	t.line("")
	t.para("", t.own("intro"), nil)
	t.line("")
	t.para("", t.lang.text("head.how", "ttl", trimmed(cfg.TTL), "key", cfg.Key), t.dim)
	if cfg.Backend.Virtual() {
		t.para("", t.lang.text("head.embedded"), t.dim)
	}
	t.wait()
}

// own is a text of the demo's own.
func (t *teller) own(part string) string {
	return t.lang.text("demo."+t.lesson.Demo.Name+"."+part, "ttl", trimmed(t.lesson.Broken.Config.TTL))
}

// play tells the steps of a run.
func (t *teller) play(res harness.Result, ask bool) {
	cfg := res.Config
	commands := t.lang.said("lock."+cfg.Lock.Name, cfg.Lock.Title)
	if acquire, release, ok := strings.Cut(commands, "; "); ok {
		t.para("", t.lang.text("part.by", "acquire", acquire, "release", release), nil)
	} else {
		t.para("", t.lang.text("part.commands", "commands", commands), nil)
	}
	if cfg.Guard != resource.None {
		t.para("", t.lang.text("guard."+cfg.Guard.String()), nil)
	}
	all := scenes(res)
	before := scene{}
	for i, s := range all {
		if s.step.Verb == "" {
			t.afterwards(res, s)
			break
		}
		if ask && i == t.lesson.Demo.asks(all) {
			t.line("")
			t.para("  ?  ", t.lang.text("question", "question", t.own("question")), t.yellow)
			t.wait()
		}
		t.scene(res, i+1, s, before)
		t.wait()
		before = s
	}
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
	t.line("")
	if why := t.lesson.Broken.Why; why != "" {
		t.para(t.lang.text("why.head"), t.lang.said("demo."+t.lesson.Demo.Name+".why", why), nil)
		t.line("")
	}
	t.para(t.lang.text("fix.head"), t.own("fix"), nil)
	t.wait()
}

// end says how to go on.
func (t *teller) end() {
	all, lang := All(), ""
	if t.lang.Name != Languages()[0].Name {
		lang = " --lang " + t.lang.Name
	}
	t.line("")
	t.line(t.lang.text("end.again"), "lockbench run --scenario "+t.lesson.Scenario.Name)
	at := slices.IndexFunc(all, func(d Demo) bool { return d.Name == t.lesson.Demo.Name })
	if at >= 0 && at+1 < len(all) {
		t.line(t.lang.text("end.next"), "lockbench demo "+all[at+1].Name+lang)
	}
}
