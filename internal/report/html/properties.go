package html

import (
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/report"
)

// property is one that was judged.
type property struct {
	Name       string
	Mood       string // how the word is painted: pass, fail, none, unknown or error
	Word       string
	Definition string
	Means      string // what its violation means, in a language that the story is not in
	Story      string
	Surprise   string // what was expected instead
	Events     []link
	More       int // events that are not named
	Engine     string
	Checked    int
	Unknowns   int
	Quiet      bool // there is nothing to be told
}

// violated follows the name of a property under which a language has what its violation means.
const violated = " is violated"

// mostWitnesses is how many events of a witness are named.
const mostWitnesses = 12

func (p *page) properties(r report.Run) {
	expected := map[checker.Property]checker.Judged{}
	for _, e := range r.Expected {
		expected[e.Property] = e
	}
	unknowns, took := 0, time.Duration(0)
	for _, res := range r.Results {
		unknowns, took = max(unknowns, res.Unknowns), took+res.Took
		q := property{
			Name: p.in.Say(report.Label(res.Property)), Definition: res.Property.Definition(), Story: report.ResultText(res, r.Vacuous),
			Engine: p.in.Say(report.Show(res.Engine)), Checked: res.Checked, Unknowns: res.Unknowns,
			Quiet: res.Story == "",
		}
		q.Mood, q.Word = p.mood(res.Verdict)
		if broken := report.Label(res.Property) + violated; res.Verdict == checker.Fail && p.in.Say(broken) != broken {
			q.Means = p.in.Say(broken)
		}
		switch e, known := expected[res.Property]; {
		case known && e.Met && res.Verdict == checker.Fail:
			q.Mood = moodOf(checker.AsExpected)
		case known && !e.Met:
			if res.Verdict == checker.Pass {
				q.Mood = moodOf(checker.Unexpected)
			}
			_, q.Surprise = p.mood(e.Want)
		}
		for i, w := range res.Witness {
			if i == mostWitnesses {
				q.More = len(res.Witness) - i
				break
			}
			q.Events = append(q.Events, p.link(w))
		}
		p.Properties = append(p.Properties, q)
		switch {
		case res.Verdict != checker.Fail:
		case p.First == nil:
			p.First = &q
		default:
			p.Others = append(p.Others, q)
		}
	}
	p.Judged = p.in.Sayf("Judged %s, %s of unknown outcome%s.",
		p.in.Count(r.Recorded(), "event"), p.in.Count(unknowns, "operation"), report.JudgedIn(r, took))
}
