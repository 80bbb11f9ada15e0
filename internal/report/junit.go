package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/words"
)

// A Suite is a group of cases in JUnit's XML.
type Suite struct {
	Name  string
	Cases []Case
}

// A Case is one test in JUnit's XML. At most one of Skipped, Failure and Error is set; without
// any the case passed.
type Case struct {
	Name, Class             string
	Took                    time.Duration
	Skipped, Failure, Error *Message
	Out                     string // what is told of a case that passed
}

// A Message says why a case did not pass.
type Message struct {
	Text string // one line
	Type string
	Body string
}

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCount
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCount
	Cases []junitCase `xml:"testcase"`
}

type junitCount struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Skipped   *junitMessage `xml:"skipped"`
	Failure   *junitMessage `xml:"failure"`
	Error     *junitMessage `xml:"error"`
	Out       string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes suites as JUnit's XML. It counts what became of the cases, and makes
// every text fit for XML 1.0, and not too long.
func WriteJUnit(w io.Writer, name string, took time.Duration, suites []Suite) error {
	all := junitSuites{Name: cut(name, longestProse), junitCount: junitCount{Time: words.Instant(took)}}
	for _, s := range suites {
		suite := s.junit()
		all.add(suite.junitCount)
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c *junitCount) add(o junitCount) {
	c.Tests, c.Failures, c.Errors, c.Skipped = c.Tests+o.Tests, c.Failures+o.Failures, c.Errors+o.Errors, c.Skipped+o.Skipped
}

func (s Suite) junit() junitSuite {
	suite := junitSuite{Name: cut(s.Name, longestProse)}
	var took time.Duration
	for _, c := range s.Cases {
		took += c.Took
		one := junitCount{Tests: 1}
		switch {
		case c.Failure != nil:
			one.Failures = 1
		case c.Error != nil:
			one.Errors = 1
		case c.Skipped != nil:
			one.Skipped = 1
		}
		suite.add(one)
		suite.Cases = append(suite.Cases, junitCase{
			Name: cut(c.Name, longestProse), Classname: cut(c.Class, longestProse), Time: words.Instant(c.Took),
			Skipped: c.Skipped.junit(), Failure: c.Failure.junit(), Error: c.Error.junit(), Out: cut(c.Out, longestBody),
		})
	}
	suite.Time = words.Instant(took)
	return suite
}

func (m *Message) junit() *junitMessage {
	if m == nil {
		return nil
	}
	text := m.Text
	if strings.TrimSpace(text) == "" {
		text = m.Type // of an error that says nothing
	}
	return &junitMessage{Message: cut(text, longestProse), Type: m.Type, Text: cut(m.Body, longestBody)}
}

// Printable is text without what XML and terminals cannot take: each such character, and each
// byte that is no UTF-8, becomes U+FFFD. Line feeds stay.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

// longestBody is how much is told of a case.
const longestBody = longestProse + 2*longestCopied + 100

// cut is Printable, and not longer than so many characters.
func cut(text string, most int) string {
	return shorten(Printable(text[:min(len(text), utf8.UTFMax*(most+1))]), most)
}

// JUnit writes runs as JUnit's XML: a suite for each run, a case for each property that was
// judged. A property that is not as expected has failed, also if it is unknown, which never
// passes; one that does not apply is skipped. A run that the harness could not finish has a
// case with an error. Every case passes if and only if every run is as expected.
func JUnit(w io.Writer, runs []Run) error {
	var suites []Suite
	var took time.Duration
	for _, r := range runs {
		s := r.suite()
		for _, c := range s.Cases {
			took += c.Took
		}
		suites = append(suites, s)
	}
	return WriteJUnit(w, "lockbench run", took, suites)
}

func (r Run) suite() Suite {
	name := r.Scenario
	if r.Pitfall != "" {
		name = r.Pitfall + " " + name
	}
	class := "lockbench." + show(r.Backend) + "." + show(r.Scenario)
	s := Suite{Name: fmt.Sprintf("%s, %s, seed %d", show(name), show(r.who()), r.Seed)}
	asked := r.asked()
	for _, a := range asked {
		c := Case{Name: label(a.Property), Class: class, Took: a.Took}
		text := told(a.Result, nil)
		body := text
		if cause, ok := r.cause(a.Property); ok {
			body += "\nCause: " + CauseText(cause)
		}
		c.judge(a.verdict(), a.how(), text, r.body(body, a.how()))
		s.Cases = append(s.Cases, c)
	}
	switch {
	case r.Unfit:
		s.Cases = append(s.Cases, Case{Name: "the run", Class: class, Skipped: &Message{Text: inOne(r.Error)}})
	case r.Error != "":
		s.Cases = append(s.Cases, Case{Name: "the run", Class: class, Error: &Message{
			Text: inOne(r.Error), Type: "error", Body: r.body(inOne(r.Error), "lockbench, or something that it needs, failed"),
		}})
	case r.Outcome != checker.AsExpected && !s.bad():
		verdict := outcomeUnexpected
		if r.Outcome == checker.Undecided {
			verdict = outcomeUnknown
		}
		c := Case{Name: "the run", Class: class}
		c.judge(verdict, "", sentence(r), r.body(sentence(r), ""))
		s.Cases = append(s.Cases, c)
	}
	return s
}

// The types of failures.
const (
	outcomeUnexpected = "unexpected"
	outcomeUnknown    = "unknown"
	outcomeExpected   = "expected"
	outcomeError      = "error"
	outcomeSkipped    = "not-applicable"
)

// judge sets what became of a case.
func (c *Case) judge(outcome, how, text, body string) {
	switch outcome {
	case outcomeExpected:
		if how != "" {
			c.Out = how + "\n" + text
		}
	case outcomeSkipped:
		c.Skipped = &Message{Text: text}
	case outcomeError:
		c.Error = &Message{Text: text, Type: outcome, Body: body}
	default:
		c.Failure = &Message{Text: text, Type: outcome, Body: body}
	}
}

func (s Suite) bad() bool {
	for _, c := range s.Cases {
		if c.Failure != nil || c.Error != nil {
			return true
		}
	}
	return false
}

// body is what is told of a case that failed: how it came out, why, and how to see it again.
func (r Run) body(text, how string) string {
	lines := []string{}
	for _, l := range []string{how, text} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	if r.Command != "" {
		lines = append(lines, "Replay: "+toCopy(r.Command))
	}
	if r.Dir != "" {
		lines = append(lines, "History: "+toCopy(r.Dir))
	}
	return strings.Join(lines, "\n")
}

// CheckJUnit writes c as JUnit's XML: a case for each property, which all should hold. It has
// failed if it is violated or unknown, and is skipped if it does not apply. Every case passes
// if and only if everything that was judged holds.
func CheckJUnit(w io.Writer, c Check) error {
	s := Suite{Name: show(c.File)}
	class := "lockbench.check." + show(c.Model)
	var took time.Duration
	where := "History: " + toCopy(c.File)
	for _, res := range c.Report.Results {
		a := asking{Result: res}
		text := told(res, nil)
		one := Case{Name: label(res.Property), Class: class, Took: res.Took}
		one.judge(a.held(), "", text, word(res.Verdict)+"\n"+text+"\n"+where)
		took += res.Took
		s.Cases = append(s.Cases, one)
	}
	for _, e := range c.Report.HarnessErrors {
		s.Cases = append(s.Cases, Case{Name: "the history", Class: class, Error: &Message{Text: inOne(e), Type: outcomeError, Body: inOne(e) + "\n" + where}})
	}
	if c.Report.Verdict != checker.Pass && !s.bad() {
		s.Cases = append(s.Cases, Case{Name: "the history", Class: class, Failure: &Message{Text: c.sentence(), Type: outcomeUnknown, Body: c.sentence() + "\n" + where}})
	}
	return WriteJUnit(w, "lockbench check", took, []Suite{s})
}
