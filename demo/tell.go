package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/report"
	"github.com/lockbench/lockbench/resource"
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
		"backend", t.lang.text("backend."+cfg.Backend)), t.dim)
	t.line("")
	t.para("", t.own("intro"), nil)
	t.line("")
	t.para("", t.lang.text("head.how", "ttl", trimmed(cfg.TTL), "key", cfg.Key), t.dim)
	if cfg.Backend == harness.Embedded {
		t.para("", t.lang.text("head.embedded"), t.dim)
	}
	t.wait()
}

// own is a text of the demo's own.
func (t *teller) own(part string) string {
	return t.lang.text("demo."+t.lesson.Demo.Name+"."+part, "ttl", trimmed(t.lesson.Broken.Config.TTL))
}

// others translates what another room says; what has no translation stays English.
func (t *teller) others(said string) string {
	if text, ok := t.lang.of(said); ok {
		return text
	}
	return said
}

// play tells the steps of a run.
func (t *teller) play(res harness.Result, ask bool) {
	cfg := res.Config
	commands := t.others(cfg.Lock.Title)
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
		if s.step == "" {
			t.afterwards(res, s)
			break
		}
		if ask && s.step == t.lesson.Demo.Ask {
			ask = false
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

// scene tells one step.
func (t *teller) scene(res harness.Result, number int, s, before scene) {
	text, _ := t.lang.step(s.step, res.Config.Workload.Clients())
	if s.simulated {
		text += t.lang.text("simulated")
	}
	t.line("")
	t.para(fmt.Sprintf("%3d  %s  ", number, pad(seconds(s.at), len("00.000"))), text, t.bold)
	for _, c := range s.sent {
		t.sent(c)
	}
	if s.idle != "" {
		t.row("", t.lang.text("step.idle", "client", s.idle), nil)
	}
	for _, a := range s.accesses {
		t.row(t.lang.text("row.register"), t.access(a), nil)
	}
	t.holdings(res, s.nodes, s.at)
	for _, b := range s.beliefs {
		old := slices.IndexFunc(before.beliefs, func(o belief) bool { return o.client == b.client })
		same := old >= 0 && before.beliefs[old] == b
		if same && b.settled() {
			continue
		}
		paint := t.plain
		if same {
			paint = t.dim
		}
		t.row(t.lang.text("row.believes", "client", b.client), t.belief(b), paint)
	}
	for _, r := range s.rivals {
		text := t.lang.text("alarm.both", "first", r.first, "second", r.second)
		if r.ended > 0 {
			text = t.lang.text("alarm.both-after-lease", "first", r.first, "second", r.second, "ended", seconds(r.ended))
		}
		t.row("!!", text, t.red)
	}
	if len(s.broken) > 0 {
		t.row("!!", t.lang.text("alarm.broken", "properties", t.properties(s.broken)), t.red)
	}
}

// afterwards tells what followed the last step: faults are healed, and somebody who took no
// part asks for the lock.
func (t *teller) afterwards(res harness.Result, s scene) {
	prober := res.Config.Workload.Clients()
	key, at, times := "after.refused", time.Duration(0), 0
	for _, e := range res.Events {
		if e.Worker != prober || e.F != histories.Acquire {
			continue
		}
		switch e.Type {
		case histories.Invoke:
			times++
		case histories.OK:
			key = "after.granted"
		}
		at = e.Time
		if key == "after.granted" {
			break
		}
	}
	t.line("")
	t.para("     "+pad(seconds(at), len("00.000"))+"  ", t.lang.text(key, "client", histories.WorkerName(prober), "times", times, "until", seconds(at)), nil)
	t.holdings(res, s.nodes, s.at)
	if len(s.broken) > 0 {
		t.row("!!", t.lang.text("alarm.broken", "properties", t.properties(s.broken)), t.red)
	}
	t.wait()
}

// sent tells a command and its reply, and once what a script does.
func (t *teller) sent(c sent) {
	text := c.command
	switch c.state {
	case answered:
		if c.reply != "" {
			text += "  => " + c.reply
		}
	case wentOn:
		text = t.lang.text("sent.went-on", "command", c.command, "reply", c.reply)
	case heldUp:
		text = t.lang.text("sent.held", "command", c.command)
	case replyHeld:
		text = t.lang.text("sent.reply-held", "command", c.command)
	case replyLost:
		text = t.lang.text("sent.reply-lost", "command", c.command)
	case waiting:
		text = t.lang.text("sent.waiting", "command", c.command)
	}
	if c.times > 1 {
		text += t.lang.text("sent.times", "times", c.times, "until", seconds(c.until))
	}
	t.row(c.client+" → "+together(c.nodes), text, nil)
	if c.script != "" {
		t.once(t.lang.text("script", "name", c.script, "does", t.lang.text("script."+c.script)))
	}
	if strings.HasPrefix(c.reply, `"NOSCRIPT `) {
		t.once(t.lang.text("sent.noscript"))
	}
}

// once explains something where it is seen first.
func (t *teller) once(text string) {
	if !t.told[text] {
		t.told[text] = true
		t.row("", text, t.dim)
	}
}

func (t *teller) access(a access) string {
	switch {
	case a.stale:
		return t.lang.text("register.stale", "client", a.client)
	case a.refused != "":
		return t.lang.text("register.refused", "client", a.client, "why", a.refused)
	case !a.write && a.again && a.version != a.seen:
		return t.lang.text("register.changed", "client", a.client, "value", a.value, "version", a.version, "seen", a.seen)
	case !a.write:
		return t.lang.text("register.read", "client", a.client, "value", a.value, "version", a.version)
	case a.version != a.seen:
		return t.lang.text("register.overwrite", "client", a.client, "value", a.value, "version", a.version, "seen", a.seen)
	}
	return t.lang.text("register.write", "client", a.client, "value", a.value, "version", a.version)
}

func (t *teller) belief(b belief) string {
	text := ""
	switch b.mind {
	case asks:
		text = t.lang.text("believes.asks")
	case holds:
		key := "believes.holds"
		switch {
		case b.until == 0:
			key = "believes.holds-open"
		case b.over:
			key = "believes.overdue"
		}
		if b.shared {
			key += "-reading"
		}
		text = t.lang.text(key, "until", seconds(b.until))
	case refused:
		text = t.lang.text("believes.refused")
	case unsure:
		text = t.lang.text("believes.unsure")
	case returns:
		text = t.lang.text("believes.returns")
	case returned:
		text = t.lang.text("believes.returned")
	case robbed:
		text = t.lang.text("believes.robbed")
	case doubts:
		text = t.lang.text("believes.doubts")
	case dead:
		text = t.lang.text("believes.dead")
	}
	if b.still {
		text += t.lang.text("believes.still")
	}
	return text
}

// settled says that nothing is to be told of b until it changes.
func (b belief) settled() bool {
	return !b.still && b.mind != asks && b.mind != holds && b.mind != returns
}

// verdict tells what the judges found of a run.
func (t *teller) verdict(res harness.Result, lock string) {
	t.line("")
	t.para("", t.lang.text("verdict.head", "lock", lock), t.bold)
	names, proofs := 0, 0 // how wide these columns are
	proof := map[checker.Property]string{}
	for _, r := range res.Report.Results {
		if r.Verdict == checker.Fail {
			proof[r.Property] = strings.Join(t.stepsOf(res, r.Witness), ", ")
			names, proofs = max(names, columns(t.property(r.Property))), max(proofs, columns(proof[r.Property]))
		}
	}
	kept := map[checker.Verdict][]checker.Property{}
	for _, r := range res.Report.Results {
		if r.Verdict != checker.Fail {
			kept[r.Verdict] = append(kept[r.Verdict], r.Property)
			continue
		}
		t.paint("  "+pad(t.property(r.Property), names)+"  ", "FAIL", "  "+pad(proof[r.Property], proofs)+"  ", t.lang.text("means."+string(r.Property)))
	}
	if res.Report.Verdict == checker.Pass {
		t.para("  ", t.lang.text("verdict.clean"), t.green)
	}
	for _, v := range []checker.Verdict{checker.Pass, checker.Unknown} {
		if len(kept[v]) > 0 {
			t.para("  ", t.lang.text("verdict."+v.String(), "properties", t.properties(kept[v])), nil)
		}
	}
	if res.Note != "" {
		t.para("  ", t.others(res.Note), nil)
	}
	if res.Outcome != checker.AsExpected {
		t.para("  ", t.lang.text("verdict."+res.Outcome.String()+"-outcome"), t.red)
	}
	for _, n := range res.Meta.Notes {
		t.para("  ", n, t.dim)
	}
	t.wait()
}

// stepsOf are the numbers of the steps in which events happened.
func (t *teller) stepsOf(res harness.Result, events []int) []string {
	var all []string
	for _, e := range slices.Sorted(slices.Values(events)) {
		number := t.lang.text("verdict.end")
		for i, shot := range res.Album {
			if e < shot.Events && shot.Step != "" {
				number = fmt.Sprint(i + 1)
				break
			}
		}
		if len(all) == 0 || all[len(all)-1] != number {
			all = append(all, number)
		}
	}
	return all
}

func (t *teller) property(p checker.Property) string { return t.lang.text("property." + string(p)) }

func (t *teller) properties(all []checker.Property) string {
	var names []string
	for _, p := range all {
		names = append(names, t.property(p))
	}
	return strings.Join(names, t.lang.text("comma"))
}

func (t *teller) why() {
	t.line("")
	if why := t.lesson.Broken.Why; why != "" {
		t.para(t.lang.text("why.head"), t.others(why), nil)
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
