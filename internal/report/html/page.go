package html

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/picture"
)

// page is what the template shows. Its strings are harmless to read; the template escapes them.
type page struct {
	in language.Language

	Policy  string
	Styles  []template.CSS
	Scripts []template.JS

	Notices    []string
	Title      string
	Name       string // of scenario or workload
	Pitfall    string
	What       string // what happens in the scenario
	Conditions []string
	Time       string // whether time is real

	Mood    string // how the verdict is painted: pass, fail, unknown or error
	Word    string
	Verdict string
	Outcome string

	First  *property // the first violation
	Others []property

	Picture   template.HTML
	Anomalies []anomaly
	Schedule  string
	Twin      *twin

	Properties []property
	Judged     string
	Vacuous    []string
	Faulty     []string // what the harness did wrong

	Causes    []cause
	Peers     []string
	WhyHead   string
	Why       string
	Note      string
	Survivors []string
	Replay    string
	Proof     []string // commands
	Store     string   // link

	Parts  []part
	Listed int
	Total  int
	Whole  string // link to the whole history

	Plots []drawing

	Porcupine string // a page of its own
	Explored  string // the property that it is about

	About []fact
	Notes []string
	Usage []usage
	Files []File

	cited   map[int]bool // the events that something points to
	anchors map[int]bool // the events that are listed
}

// cause is what explains properties.
type cause struct {
	Sentence string
	Explains string
	Events   []link
	More     int // events that are not named
}

// link points to an event in the list, or to the file that has it.
type link struct {
	Event int
	Href  string
	Title string
	Here  bool // it is listed on the page
}

type fact struct{ Name, Value string }

type usage struct{ Process, CPU, Memory, Threads string }

func newPage(r report.Run, opt Options) *page {
	p := &page{
		in:      opt.Language,
		Notices: prose(opt.Notices), Files: files(opt.Files), Total: r.Recorded(), Store: opt.Store,
		cited: map[int]bool{}, anchors: map[int]bool{},
	}
	for _, f := range p.Files {
		if f.Name == histories.EventsFile {
			p.Whole = f.Href
		}
	}
	for _, res := range r.Results {
		for _, w := range res.Witness[:min(len(res.Witness), mostWitnesses)] {
			p.cited[w] = true
		}
	}
	for _, c := range report.Causes(r) {
		for _, e := range c.Events[:min(len(c.Events), mostWitnesses)] {
			p.cited[e] = true
		}
	}
	p.head(r)
	p.verdict(r)
	p.attempt("The list of events", func() error { p.list(r); return nil })
	p.properties(r)
	p.end(r)
	for _, command := range opt.Proof {
		p.Proof = append(p.Proof, report.Harmless(command))
	}
	p.attempt("The picture", func() error {
		var b strings.Builder
		err := picture.Figure(&b, r)
		p.Picture = template.HTML(b.String())
		return err
	})
	p.attempt("The twin", func() error { return p.beside(r) })
	if !r.InPart() { // they are of a whole run
		p.attempt("The plots", func() error { return p.plots(r, opt.Plots) })
		p.attempt("The visualisation of porcupine", func() error { return p.porcupine(r, opt.Model) })
	}
	told := spoken(script, p.in)
	p.Styles = []template.CSS{template.CSS(spoken(style, p.in)), template.CSS(picture.Style())}
	p.Scripts = []template.JS{template.JS(told), template.JS(picture.Script())}
	p.Policy = Policy(append(scriptsOf(p.Porcupine), told, picture.Script())...)
	return p
}

// attempt draws a part of the page. One that cannot be drawn must not take the others with it:
// the page is wanted most of all when something is wrong.
func (p *page) attempt(what string, draw func() error) {
	defer func() {
		if cause := recover(); cause != nil {
			p.Notices = append(p.Notices, report.Prose(p.in.Sayf("%s could not be drawn, which is a defect of lockbench: %v", p.in.Say(what), cause)))
		}
	}()
	if err := draw(); err != nil {
		p.Notices = append(p.Notices, report.Prose(p.in.Sayf("%s could not be drawn: %v", p.in.Say(what), err)))
	}
}

func (p *page) head(r report.Run) {
	p.Name, p.Pitfall, p.What = report.Show(r.Scenario), report.Show(r.Pitfall), report.Prose(r.Title)
	if p.Name == "" {
		p.Name = p.in.Say("a run")
	}
	for _, c := range report.Conditions(r) {
		p.Conditions = append(p.Conditions, report.Show(c))
	}
	p.Title, p.Anomalies, p.Schedule = p.Name, named(r), report.Clean(r.Schedule)
	if r.Lock != "" {
		p.Title += " · " + report.Show(r.Lock)
	}
	switch {
	case histories.VirtualTime(r.Backend):
		p.Time = p.in.Say("Time is virtual, servers are simulated in this process.")
	case r.Backend != "":
		p.Time = p.in.Say("Time and servers are real.")
	}
	if r.Error != "" {
		p.Notices = append(p.Notices, report.Prose(p.in.Sayf("The run did not end well: %s", r.Error)))
	}
}

func (p *page) verdict(r report.Run) {
	p.Mood, p.Word = p.mood(r.Verdict)
	switch {
	case len(r.Results) == 0:
		p.Word, p.Verdict, p.Outcome = p.in.Say("not judged"), p.in.Say("nothing can be said: the run was not judged."), "unknown"
	default:
		p.Verdict = report.Sentence(r)
		p.Outcome = r.Outcome.String()
		if len(r.Expected) > 0 && (r.Verdict == checker.Pass || r.Verdict == checker.Fail) {
			p.Mood = moodOf(r.Outcome)
		}
	}
	p.Verdict = report.Prose(p.Verdict)
	if len(r.HarnessErrors) > 0 {
		p.Mood = "error"
	}
	p.Vacuous, p.Faulty = prose(r.Vacuous), prose(r.HarnessErrors)
}

// moodOf is how a verdict is painted of which something was expected: the word says what was found, and the colour whether
// that was expected.
func moodOf(o checker.Outcome) string {
	switch o {
	case checker.AsExpected:
		return "pass"
	case checker.Unexpected:
		return "fail"
	}
	return "unknown"
}

// mood is how a verdict is painted of which nothing was expected, and its word.
func (p *page) mood(v checker.Verdict) (class, word string) {
	class, word = mood(v)
	return class, p.in.Say(word)
}

func mood(v checker.Verdict) (class, word string) {
	switch v {
	case checker.Fail:
		return "fail", "FAIL"
	case checker.Pass:
		return "pass", "pass"
	case checker.NotApplicable:
		return "none", "n/a"
	case checker.Disagreement:
		return "error", "ERROR"
	}
	return "unknown", "unknown"
}

func (p *page) link(event int) link {
	if p.anchors[event] {
		return link{Event: event, Href: "#" + anchor(event), Here: true}
	}
	return link{Event: event, Href: p.Whole, Title: p.in.Sayf("line %d of %s", event+1, histories.EventsFile)}
}

func (p *page) end(r report.Run) {
	for _, c := range report.Causes(r) {
		one := cause{Sentence: report.Prose(c.Sentence), Explains: p.labels(c.Properties), More: max(0, len(c.Events)-mostWitnesses)}
		for _, e := range c.Events[:min(len(c.Events), mostWitnesses)] {
			one.Events = append(one.Events, p.link(e))
		}
		p.Causes = append(p.Causes, one)
	}
	p.Peers = report.Peers(r)
	if report.Violated(r) {
		p.Why, p.WhyHead = report.Prose(r.Why), report.WhyHead(r)
		for _, s := range r.Survivors {
			p.Survivors = append(p.Survivors, report.Harmless(s))
		}
	}
	p.Note, p.Replay, p.Notes = report.Prose(r.Note), report.Harmless(r.Command), prose(r.Notes)
	p.about(r)
}

func (p *page) about(r report.Run) {
	add := func(name, value string) {
		if value = report.Prose(value); value != "" {
			p.About = append(p.About, fact{p.in.Say(name), p.in.Say(value)})
		}
	}
	m := r.Meta
	add("Scenario", strings.TrimSpace(m.Scenario+" "+m.Pitfall))
	add("Lock", m.Lock)
	add("Guard", m.Guard)
	backend := m.Backend
	if m.Server != "" {
		backend += " (" + m.Server + ")"
	}
	add("Backend", backend)
	add("Servers", p.in.List(p.in.Each(strings.Split(m.Topology, ", "))))
	if m.Clients > 0 {
		add("Clients", fmt.Sprint(m.Clients))
	}
	if m.TTL > 0 {
		add("Lease", m.TTL.String())
	}
	if m.Schema != 0 { // else it was not lockbench that recorded it, or nobody knows how
		add("Seed", fmt.Sprint(m.Seed))
	}
	if !m.Started.IsZero() {
		add("Started", m.Started.UTC().Format("2006-01-02 15:04:05.000 UTC"))
	}
	add("How far it came", string(m.Phase))
	switch {
	case m.Replayable:
		add("The same seed", p.in.Say("gives the same bytes again"))
	case m.Schema != 0:
		add("The same seed", p.in.Say("not certain to give the same bytes again"))
	}
	add("lockbench", m.Version)
	for _, u := range m.Usage {
		p.Usage = append(p.Usage, usage{
			Process: report.Show(u.Process), CPU: report.Processor(u), Memory: report.Megabytes(u.Resident), Threads: fmt.Sprint(u.Threads),
		})
	}
}

func prose(all []string) []string {
	var harmless []string
	for _, s := range all {
		harmless = append(harmless, report.Prose(s))
	}
	return harmless
}

func files(all []File) []File {
	var harmless []File
	for _, f := range all {
		harmless = append(harmless, File{report.Show(f.Name), f.Href})
	}
	return harmless
}
