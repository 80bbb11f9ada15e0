package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/anomalies"
	"github.com/lockbench/lockbench/internal/story"
	"github.com/lockbench/lockbench/internal/words"
)

// ErrNoFinding says that a run has nothing to report upstream. What wraps it says why.
var ErrNoFinding = errors.New("nothing to report")

// Origin is what an issue says of a run beside what is on record.
type Origin struct {
	Library string // with its version, such as "redsync v4.18.1"; empty: what crossed the wire says, or nobody knows
	Steps   string // the schedule that was played; empty: it was random load
	Remark  string // on the steps; empty: none
}

// finding is one thing that a run found: what broke, and why if that was derived.
type finding struct {
	anomaly anomalies.Anomaly // the zero value: it has no name
	cause   checker.Cause     // the zero value: none was derived
	results []checker.Result  // those that are violated and that it explains; at least one
}

// Issue writes the finding of a run as Markdown, ready to be sent to those who maintain the lock: what was found, with which versions,
// how to see it again, what was expected, and what was seen. The error wraps ErrNoFinding if the run has none.
func Issue(w io.Writer, r Run, from Origin) error {
	f, err := r.finding()
	if err != nil {
		return err
	}
	var b strings.Builder
	f.head(&b, r)
	r.versions(&b, from)
	r.reproduce(&b, from)
	f.expected(&b, r)
	f.seen(&b, r)
	_, err = io.WriteString(w, b.String())
	return err
}

// finding is the first cause of the run that has a name, or else the first that was derived, or else what is violated first.
func (r Run) finding() (f finding, err error) {
	failed := slices.DeleteFunc(slices.Clone(r.Report.Results), func(res checker.Result) bool { return res.Verdict != checker.Fail })
	switch {
	case r.Error != "":
		return f, fmt.Errorf("%w: the run did not come to its end: %s", ErrNoFinding, inOne(r.Error))
	case len(failed) > 0:
	case r.Report.Verdict == checker.Pass:
		return f, fmt.Errorf("%w: the run passed, all properties hold", ErrNoFinding)
	default:
		return f, fmt.Errorf("%w: the run is not conclusive, and no property is violated", ErrNoFinding)
	}
	explained := func(c checker.Cause) (all []checker.Result) {
		for _, res := range failed {
			if slices.Contains(c.Properties, res.Property) {
				all = append(all, res)
			}
		}
		return all
	}
	for _, named := range []bool{true, false} {
		for _, c := range Causes(r) {
			a, ok := anomalies.Find(c.Anomaly)
			if of := explained(c); len(of) > 0 && ok == named {
				return finding{a, c, of}, nil
			}
		}
	}
	return finding{results: failed[:1]}, nil
}

// head says in a sentence what was found, and what that is called.
func (f finding) head(b *strings.Builder, r Run) {
	var broken []string
	for _, res := range f.results {
		broken = append(broken, label(res.Property))
	}
	name := cmp.Or(f.anomaly.Name, and(broken)+" violated")
	fmt.Fprintf(b, "# %s: %s\n\n%s\n\n", Escape(cmp.Or(show(r.who()), "A lock")), Escape(name), Escape(prose(cmp.Or(f.cause.Sentence, f.results[0].Story))))
	if f.anomaly.Code != "" {
		fmt.Fprintf(b, "That is **%s** (%s): %s It breaks %s.\n", f.anomaly.Name, f.anomaly.Code, f.anomaly.Definition, and(broken))
		return
	}
	fmt.Fprintf(b, "It breaks %s.\n", and(broken))
}

// versions says what the run was made with, as far as that is on record.
func (r Run) versions(b *strings.Builder, from Origin) {
	const unknown = "not on record"
	library := cmp.Or(from.Library, r.onWire(`^CLIENT SETINFO LIB-NAME (\S+)`, `^CLIENT SETINFO LIB-VER (\S+)`))
	server := r.Server
	if histories.VirtualTime(r.Backend) {
		server = "none, the servers are in-process"
	} else if seen := r.onWire(`^HELLO `, `\bversion (\d+\.\d+\S*)`); server == "" && seen != "" {
		server = "Redis " + seen
	}
	b.WriteString("\n## Versions\n\n")
	for _, line := range []struct{ what, is string }{
		{"lockbench", r.Version}, {"lock", r.Lock}, {"library", library}, {"redis-server", server},
		{"backend", r.where()}, {"topology", r.Topology},
	} {
		fmt.Fprintf(b, "- %s: %s\n", line.what, Escape(cmp.Or(show(line.is), unknown)))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "- %s\n", Escape(prose(note)))
	}
}

// onWire is what the first commands and replies of clients tell that fit patterns: all that are in parentheses, with spaces between. Empty:
// not all patterns fit.
func (r Run) onWire(patterns ...string) string {
	var found []string
	for _, p := range patterns {
		pattern, fits := regexp.MustCompile(p), false
		for _, x := range r.Exchanges {
			if x.Node == story.Register || !story.Setup(x) {
				continue
			}
			m := pattern.FindStringSubmatch(x.Command)
			if m == nil {
				m = pattern.FindStringSubmatch(x.Reply)
			}
			if m != nil {
				found, fits = append(found, m[1:]...), true
				break
			}
		}
		if !fits {
			return ""
		}
	}
	return strings.Join(found, " ")
}

// reproduce has the steps, and the one command that plays them.
func (r Run) reproduce(b *strings.Builder, from Origin) {
	b.WriteString("\n## Steps to reproduce\n\n")
	switch {
	case from.Steps != "":
		b.WriteString("The steps, as `lockbench run FILE.schedule` takes them (docs/schedule.md):\n\n" + block("schedule", from.Steps))
	case r.Command != "":
		fmt.Fprintf(b, "There is no schedule: seed %d decided what the clients did.\n", r.Seed)
	default:
		b.WriteString("What was played is not on record; the events below are.\n")
	}
	if from.Remark != "" {
		fmt.Fprintf(b, "\n%s\n", Escape(prose(from.Remark)))
	}
	if r.Command == "" {
		return
	}
	b.WriteString("\nOne command plays it again")
	if r.Replayable {
		b.WriteString(", byte for byte the same")
	}
	b.WriteString(":\n\n" + Fence(r.Command))
}

// expected says what the properties want, and who keeps them.
func (f finding) expected(b *strings.Builder, r Run) {
	b.WriteString("\n## Expected\n\n")
	excused := true
	for _, res := range f.results {
		excused = excused && r.excused(res.Property)
		fmt.Fprintf(b, "- **%s**: %s\n", label(res.Property), Escape(cmp.Or(res.Property.Definition(), "it holds")))
	}
	if excused {
		b.WriteString("\nEvery other lock of its class breaks this, too, under the same load and faults.\n")
	}
	if len(r.Survivors) > 0 {
		b.WriteString("\nThese keep under the same steps what it breaks:\n\n" + Fence(r.Survivors...))
	}
}

// seen says what was found, with the commands that decide and the calls around them.
func (f finding) seen(b *strings.Builder, r Run) {
	b.WriteString("\n## Seen\n\n")
	for _, res := range f.results {
		fmt.Fprintf(b, "- **%s**: %s\n", label(res.Property), Escape(prose(res.Story)))
	}
	if wire := f.deciding(r); len(wire) > 0 {
		var lines []string
		for _, x := range wire {
			line := fmt.Sprintf("%s  %s → %s", words.Instant(x.Sent), show(x.Client), Wire(x, r.Language))
			if x.Forwarded > x.Sent {
				line += ", which the server saw at " + words.Instant(x.Forwarded)
			}
			lines = append(lines, line)
		}
		fmt.Fprintf(b, "\nThe commands that decide, with the time in seconds and the reply:\n\n%s", block("", strings.Join(lines, "\n")))
	}
	if around := f.around(r); len(around) > 0 {
		fmt.Fprintf(b, "\nThe events that are named, and those between them:\n\n%s", block("", strings.Join(around, "\n")))
	}
}

// mostDeciding is how many commands are shown, mostAround how many events.
const (
	mostDeciding = 2
	mostAround   = 40
)

// deciding are the commands that the cause rests on, in the order in which servers saw them; or else what the calls sent that prove it.
func (f finding) deciding(r Run) (all []histories.Exchange) {
	var at []int
	add := func(i int) {
		if len(at) < mostDeciding && 0 <= i && i < len(r.Exchanges) && !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	for _, c := range f.cause.Commands {
		add(c.Exchange)
	}
	told := r.Story()
	for _, o := range slices.Backward(told.Operations()) {
		if !f.names(o.Invoke.Index) && (!o.Done || !f.names(o.Complete.Index)) {
			continue
		}
		if sent := told.Sent(o); len(sent) > 0 {
			add(sent[len(sent)-1])
		}
	}
	for _, i := range at {
		all = append(all, r.Exchanges[i])
	}
	slices.SortFunc(all, func(x, y histories.Exchange) int {
		return cmp.Compare(max(x.Sent, x.Forwarded), max(y.Sent, y.Forwarded))
	})
	return all
}

// named are the events that prove the finding.
func (f finding) named() []int { return slices.Concat(f.cause.Events, f.results[0].Witness) }

func (f finding) names(event int) bool { return slices.Contains(f.named(), event) }

// around tells the events from the first that is named to the last, or if they are too many those alone.
func (f finding) around(r Run) (lines []string) {
	named := f.named()
	if len(named) == 0 {
		return nil
	}
	from, to := slices.Min(named), slices.Max(named)
	var events []histories.Event
	for _, e := range r.Events {
		if f.names(e.Index) || to-from < mostAround && from <= e.Index && e.Index <= to {
			events = append(events, e)
		}
	}
	for _, row := range NewTimeline(r).Rows(events) {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%7s  %s  %-8s %s", row.Mark(), words.Instant(row.At), row.Who, row.What), " "))
	}
	return lines
}

// block is text between as many backticks as it needs, harmless to a terminal.
func block(kind, text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + kind + "\n" + strings.TrimRight(Clean(text), "\n") + "\n" + marks + "\n"
}
