package checker

import (
	"fmt"
	"slices"
)

// Expectation is the verdict wanted of each property. Properties that are not named must
// pass, or not apply. NotApplicable wants nothing: any verdict will do.
type Expectation map[Property]Verdict

// Judged is what was wanted of a property, and whether it came out so.
type Judged struct {
	Property Property `json:"property"`
	Want     Verdict  `json:"want"`
	Got      Verdict  `json:"got"`
	Met      bool     `json:"met"`
}

func (j Judged) outcome() Outcome {
	switch {
	case j.Met:
		return AsExpected
	case j.Got == Unknown || j.Got == Disagreement || j.Got == NotApplicable:
		return Undecided
	}
	return Unexpected
}

// Outcome reports whether a run came out as expected.
type Outcome uint8

// The outcomes. The zero value is the careful one.
const (
	Undecided  Outcome = iota // a property that should have a verdict has none
	AsExpected                // every property is as wanted
	Unexpected                // a property passes or fails against what was wanted
)

// String returns "expected", "unexpected" or "unknown".
func (o Outcome) String() string {
	switch o {
	case AsExpected:
		return "expected"
	case Unexpected:
		return "unexpected"
	}
	return "unknown"
}

// Or returns the worse of two outcomes: Unexpected, then Undecided, then AsExpected.
func (o Outcome) Or(other Outcome) Outcome {
	switch {
	case o == Unexpected || other == Unexpected:
		return Unexpected
	case o == Undecided || other == Undecided:
		return Undecided
	}
	return AsExpected
}

// Compare sets a report against an expectation. Properties that the expectation does
// not name must pass or not apply. One that it wants to pass or to fail is not decided if
// the history had nothing to do with it, whether the report says so or leaves it out.
func Compare(r Report, want Expectation) (Outcome, []Judged) {
	outcome := AsExpected
	if len(r.Results) == 0 || len(r.HarnessErrors) > 0 {
		outcome = Undecided
	}
	var all []Judged
	for _, result := range r.Results {
		expected, named := want[result.Property]
		if !named {
			expected = Pass
		}
		if expected == Fail && result.Verdict == Pass && len(r.Disturbed) > 0 {
			result.Verdict = Unknown // what was to break it may have come too late
		}
		met := result.Verdict == expected || expected == NotApplicable || !named && result.Verdict == NotApplicable
		j := Judged{Property: result.Property, Want: expected, Got: result.Verdict, Met: met}
		all, outcome = append(all, j), outcome.Or(j.outcome())
	}
	for _, p := range Properties() {
		expected := want[p]
		judged := slices.ContainsFunc(r.Results, func(res Result) bool { return res.Property == p })
		if judged || expected != Pass && expected != Fail {
			continue
		}
		all = append(all, Judged{Property: p, Want: expected, Got: Unknown})
		outcome = outcome.Or(Undecided)
	}
	return outcome, all
}

// compareAll sets a report against one verdict for all properties together: Pass wants
// every one to hold, Fail wants at least one violation.
func compareAll(r Report, want Verdict) (Outcome, []Judged, error) {
	switch {
	case want == Pass:
		outcome, judged := Compare(r, nil)
		return outcome, judged, nil
	case want != Fail:
		return Undecided, nil, fmt.Errorf("cannot expect %v of a run, want pass or fail", want)
	case r.Verdict == Fail:
		return AsExpected, nil, nil
	case r.Verdict == Pass:
		return Unexpected, nil, nil
	}
	return Undecided, nil, nil
}

// MarshalText writes the word that String returns.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts exactly the words that String returns.
func (o *Outcome) UnmarshalText(text []byte) error {
	for known := Undecided; known <= Unexpected; known++ {
		if string(text) == known.String() {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("outcome is %q, want expected, unexpected or unknown", text)
}
