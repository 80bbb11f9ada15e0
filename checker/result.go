// Package checker judges recorded histories. It reads nothing but events.
//
// [Check] is the entry. Each property has one judge, in the file named after it,
// whose doc comment is the definition that it judges by. Unknown never passes:
// a history that breaks the harness's own assumptions, a judge that panics, two
// engines that disagree and a run in which nothing was put to the test all end
// as [Unknown].
package checker

import (
	"fmt"
	"time"
)

// Verdict is the outcome of a judge. The zero value is Unknown, and Unknown never passes.
type Verdict uint8

// False beats unknown beats true; a property that does not apply takes no part.
const (
	Unknown Verdict = iota
	Pass
	Fail
	NotApplicable
)

// String returns "unknown", "pass", "fail" or "not-applicable", or Verdict(n) for a
// value that is no verdict.
func (v Verdict) String() string {
	switch v {
	case Unknown:
		return "unknown"
	case Pass:
		return "pass"
	case Fail:
		return "fail"
	case NotApplicable:
		return "not-applicable"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// MarshalText returns the word that String returns. A value that is no verdict is an error.
func (v Verdict) MarshalText() ([]byte, error) {
	if v > NotApplicable {
		return nil, fmt.Errorf("verdict is %s, want unknown, pass, fail or not-applicable", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText accepts exactly the words that MarshalText returns.
func (v *Verdict) UnmarshalText(text []byte) error {
	for known := Unknown; known <= NotApplicable; known++ {
		if string(text) == known.String() {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("verdict is %q, want unknown, pass, fail or not-applicable", text)
}

// Merge combines verdicts: Fail beats Unknown beats Pass. NotApplicable takes no
// part, and nothing at all is Unknown. A value that is no verdict counts as Unknown.
func Merge(verdicts ...Verdict) Verdict {
	passed, doubt := false, false
	for _, v := range verdicts {
		switch v {
		case Fail:
			return Fail
		case Pass:
			passed = true
		case NotApplicable:
		default:
			doubt = true
		}
	}
	if passed && !doubt {
		return Pass
	}
	return Unknown
}

// Property names what is judged.
type Property string

// The properties. Their definitions stand with their judges.
const (
	StrictExclusion Property = "mutual-exclusion"
	LeaseExclusion  Property = "lease-exclusion"
	Ownership       Property = "ownership"
	ResourceSafety  Property = "resource-safety"
	DeadlockFreedom Property = "deadlock-freedom"
)

// Result is one judge's answer with the evidence for it.
type Result struct {
	Property Property      `json:"property"`
	Verdict  Verdict       `json:"verdict"`
	Witness  []int         `json:"witness,omitempty"` // event indexes that prove it
	Story    string        `json:"story,omitempty"`   // one paragraph of plain English
	Engine   string        `json:"engine,omitempty"`
	Checked  int           `json:"checked"`  // events looked at
	Unknowns int           `json:"unknowns"` // operations of unknown outcome among them
	Took     time.Duration `json:"took"`
}

// Report is the judgement of one history.
type Report struct {
	Verdict Verdict  `json:"verdict"` // of all properties together
	Vacuous []string `json:"vacuous,omitempty"`
	// HarnessErrors say what the history or the checker itself did wrong. They are
	// never the lock's fault.
	HarnessErrors []string `json:"harness_errors,omitempty"`
	Results       []Result `json:"results"`
}

// Result returns the result of property p. A property that was not judged is Unknown.
func (r Report) Result(p Property) Result {
	for _, result := range r.Results {
		if result.Property == p {
			return result
		}
	}
	return Result{Property: p, Story: "This property was not judged."}
}
