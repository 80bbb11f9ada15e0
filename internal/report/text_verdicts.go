package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/words"
)

// label is a property as people call it.
func label(p checker.Property) string {
	return strings.ReplaceAll(brief(string(p), 30), "-", " ")
}

func (p *printer) verdicts(r Run) {
	met := map[checker.Property]checker.Judged{}
	for _, e := range r.Expected {
		met[e.Property] = e
	}
	var quiet []string
	for _, res := range r.Report.Results {
		e, known := met[res.Property]
		asWanted, verdict := !known || e.Met, p.word(res.Verdict)
		if known {
			verdict = p.judgedWord(res.Verdict, e.Met)
		}
		if asWanted && (res.Verdict == checker.Pass || res.Verdict == checker.NotApplicable) {
			quiet = append(quiet, label(res.Property)+" "+verdict)
			continue
		}
		text := resultText(res, r.Report.Vacuous)
		if len(res.Witness) > 0 {
			text += " [events " + join(res.Witness) + "]"
		}
		if !asWanted {
			text += fmt.Sprintf(" (expected: %s)", e.Want)
		}
		p.para("  "+pad(label(res.Property), len("deadlock freedom"))+"  "+pad(verdict, len("unknown"))+"  ", text, nil)
	}
	p.list("  ", quiet)
	unknowns, took, engine := 0, time.Duration(0), ""
	for _, res := range r.Report.Results {
		unknowns = max(unknowns, res.Unknowns)
		took += res.Took
		if res.Property == checker.StrictExclusion && res.Engine != "" {
			engine = ", exclusion by " + show(res.Engine)
		}
	}
	p.para("  ", fmt.Sprintf("judged %s, %s of unknown outcome%s%s",
		words.Count(len(r.Events), "event"), words.Count(unknowns, "operation"), engine, JudgedIn(r, took)), p.dim)
	for _, v := range r.Report.Vacuous {
		p.para("  vacuous: ", prose(v), nil)
	}
	for _, v := range r.Report.HarnessErrors {
		p.para("  harness: ", prose(v), nil)
	}
	p.line("")
}

// list writes items on as few lines as the width allows.
func (p *printer) list(indent string, items []string) {
	line := indent
	for _, item := range items {
		switch {
		case line == indent:
			line += item
		case columns(line)+3+columns(item) > p.style.Width:
			p.line("%s", line)
			line = indent + item
		default:
			line += " · " + item
		}
	}
	if line != indent {
		p.line("%s", line)
	}
}

// resultText is what was found of a property. What it shares with other results, the reasons why the run
// is vacuous, is told once below them.
func resultText(res checker.Result, vacuous []string) string {
	text := prose(res.Story)
	for _, v := range vacuous {
		text = strings.TrimSpace(strings.Replace(text, "Vacuous: "+prose(v)+".", "", 1))
	}
	if text == "" {
		return "Not put to the test."
	}
	return text
}

func join(ints []int) string {
	const most = 8
	var b strings.Builder
	for i, n := range ints {
		switch {
		case i == most:
			fmt.Fprintf(&b, ", … %d more", len(ints)-most)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}
