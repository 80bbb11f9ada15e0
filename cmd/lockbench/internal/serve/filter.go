package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/checker"
)

const (
	perPage       = 100
	longestFilter = 200 // bytes of a parameter
	mostChoices   = 200 // values that a list of choices offers

	// What the parameter verdict may be beside the words of verdicts.
	notJudged = "none"
	damaged   = "damaged"
)

// A filter is what the list and the matrix are asked for. Empty fields ask for nothing.
type filter struct {
	Scenario string `json:"scenario,omitempty"`
	Lock     string `json:"lock,omitempty"`
	Backend  string `json:"backend,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	Violated string `json:"violated,omitempty"` // a property
	Text     string `json:"q,omitempty"`        // words, all of which are there
}

func verdicts() []string {
	return []string{checker.Pass.String(), checker.Fail.String(), checker.Unknown.String(), checker.Disagreement.String(), notJudged, damaged}
}

func outcomes() []string {
	return []string{checker.AsExpected.String(), checker.Unexpected.String(), checker.Undecided.String()}
}

func parseFilter(q url.Values) (filter, error) {
	f := filter{q.Get("scenario"), q.Get("lock"), q.Get("backend"), q.Get("verdict"), q.Get("outcome"), q.Get("violated"), q.Get("q")}
	for _, v := range []string{f.Scenario, f.Lock, f.Backend, f.Verdict, f.Outcome, f.Violated, f.Text} {
		if len(v) > longestFilter {
			return f, refuse(http.StatusBadRequest, "A filter of %d bytes is too long; want at most %d.", len(v), longestFilter)
		}
	}
	if f.Verdict != "" && !slices.Contains(verdicts(), f.Verdict) {
		return f, refuse(http.StatusBadRequest, "verdict is %q, want one of %s.", clean(f.Verdict, longestName), strings.Join(verdicts(), ", "))
	}
	if f.Outcome != "" && !slices.Contains(outcomes(), f.Outcome) {
		return f, refuse(http.StatusBadRequest, "outcome is %q, want one of %s.", clean(f.Outcome, longestName), strings.Join(outcomes(), ", "))
	}
	return f, nil
}

// query is the filter as the parameters that it was parsed from.
func (f filter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"scenario": f.Scenario, "lock": f.Lock, "backend": f.Backend, "verdict": f.Verdict, "outcome": f.Outcome, "violated": f.Violated, "q": f.Text,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// Any reports whether anything is asked for.
func (f filter) Any() bool { return f != filter{} }

func (f filter) apply(runs []*entry) []*entry {
	words := strings.Fields(strings.ToLower(f.Text))
	is := func(want, got string) bool { return want == "" || want == got }
	var kept []*entry
	for _, e := range runs {
		verdict := e.Verdict
		switch {
		case e.Damage != "":
			verdict = damaged
		case verdict == "":
			verdict = notJudged
		}
		if is(f.Scenario, e.Scenario) && is(f.Lock, e.Lock) && is(f.Backend, e.Backend) && is(f.Verdict, verdict) && is(f.Outcome, e.Outcome) &&
			(f.Violated == "" || slices.Contains(e.Violated, f.Violated)) &&
			!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.text, w) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// An order is how a list of runs is sorted. Within it the newest run comes first.
type order struct {
	Name, Label string
	compare     func(a, b *entry) int
}

// orders are those of the list, the default first.
func orders() []order {
	by := func(field func(*entry) string) func(a, b *entry) int {
		return func(a, b *entry) int { return strings.Compare(field(a), field(b)) }
	}
	rank := func(e *entry) int {
		switch e.Outcome {
		case checker.Unexpected.String():
			return 0
		case checker.Undecided.String():
			return 1
		}
		return 2
	}
	return []order{
		{"", "newest first", func(a, b *entry) int { return 0 }},
		{"scenario", "by scenario", by(func(e *entry) string { return e.Scenario })},
		{"lock", "by lock", by(func(e *entry) string { return e.Lock })},
		{"violated", "by what was violated", func(a, b *entry) int {
			return cmp.Or(cmp.Compare(min(1, len(b.Violated)), min(1, len(a.Violated))), slices.Compare(a.Violated, b.Violated))
		}},
		{"outcome", "what is not as expected first", func(a, b *entry) int { return cmp.Compare(rank(a), rank(b)) }},
	}
}

// orderOf is the order that is asked for.
func orderOf(q url.Values) (order, error) {
	all := orders()
	i := slices.IndexFunc(all, func(o order) bool { return o.Name == q.Get("sort") })
	if i < 0 {
		return order{}, refuse(http.StatusBadRequest, "sort is %q, want scenario, lock, violated or outcome.", clean(q.Get("sort"), longestName))
	}
	return all[i], nil
}

// pageOf is the number of the page that is asked for, from 1 to the last.
func pageOf(q url.Values, runs int) (page, last int, err error) {
	page, last = 1, max((runs+perPage-1)/perPage, 1)
	if text := q.Get("page"); text != "" {
		if page, err = strconv.Atoi(text); err != nil || page < 1 {
			return 0, 0, refuse(http.StatusBadRequest, "page is %q, want a whole number, at least 1.", clean(text, longestName))
		}
	}
	return min(page, last), last, nil
}

// choices are the values that runs have of a field, in order. One that is asked for is among
// them, so that a form that is sent again asks for the same.
func choices(runs []*entry, asked string, fields func(*entry) []string) []string {
	seen := map[string]bool{}
	for _, e := range runs {
		for _, v := range fields(e) {
			if v != "" && len(seen) < mostChoices {
				seen[v] = true
			}
		}
	}
	if asked != "" {
		seen[asked] = true
	}
	return sortedKeys(seen)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
