// Package checker judges recorded histories. It reads nothing but events.
//
// [Check] is the entry. Each property has one judge, in the file named after it,
// whose doc comment is the definition that it judges by. Of a key with few calls, and no
// faults, every explanation is searched, and decides (docs/adr/0023). Unknown never passes:
// a history that breaks the harness's own assumptions, a judge that panics and a run
// in which nothing was put to the test all end as [Unknown]. Two engines that
// contradict each other are a [Disagreement], which is an error of the checker.
package checker

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Verdict is the outcome of a judge. The zero value is Unknown, and Unknown never passes.
type Verdict uint8

// False beats unknown beats true; a property that does not apply takes no part.
const (
	Unknown Verdict = iota
	Pass
	Fail
	NotApplicable
	// Disagreement says that two engines gave opposite answers, so that the checker is
	// wrong about this history. It beats every other verdict.
	Disagreement
)

// String returns "unknown", "pass", "fail", "not-applicable" or "checker-disagreement", or
// Verdict(n) for a value that is no verdict.
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
	case Disagreement:
		return "checker-disagreement"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// MarshalText returns the word that String returns. A value that is no verdict is an error.
func (v Verdict) MarshalText() ([]byte, error) {
	if v > Disagreement {
		return nil, fmt.Errorf("verdict is %s, want unknown, pass, fail, not-applicable or checker-disagreement", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText accepts exactly the words that MarshalText returns.
func (v *Verdict) UnmarshalText(text []byte) error {
	for known := Unknown; known <= Disagreement; known++ {
		if string(text) == known.String() {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("verdict is %q, want unknown, pass, fail, not-applicable or checker-disagreement", text)
}

// Merge combines verdicts: Disagreement beats Fail beats Unknown beats Pass. NotApplicable
// takes no part, and nothing at all is Unknown. A value that is no verdict counts as Unknown.
func (v Verdict) Merge(others ...Verdict) Verdict {
	failed, passed, doubt := false, false, false
	for _, v := range append([]Verdict{v}, others...) {
		switch v {
		case Disagreement:
			return Disagreement
		case Fail:
			failed = true
		case Pass:
			passed = true
		case NotApplicable:
		default:
			doubt = true
		}
	}
	switch {
	case failed:
		return Fail
	case passed && !doubt:
		return Pass
	}
	return Unknown
}

// Property names what is judged.
type Property string

// Result is one judge's answer with the evidence for it.
type Result struct {
	Property Property `json:"property"`
	Verdict  Verdict  `json:"verdict"`
	Witness  []int    `json:"witness,omitempty"` // event indexes that prove it
	// Attempts are those of the witness. Their calls alone, under the same faults, still fail.
	Attempts []uint64      `json:"attempts,omitempty"`
	Window   *Window       `json:"window,omitempty"` // what to draw of a violation
	Story    string        `json:"story,omitempty"`  // one paragraph of plain English
	Engine   string        `json:"engine,omitempty"`
	Checked  int           `json:"checked"`  // events looked at
	Unknowns int           `json:"unknowns"` // operations of unknown outcome among them
	Took     time.Duration `json:"took"`
	// Events of a violation are the calls of its attempts, what else the witness names, and the faults
	// meanwhile, as far as they were known when it was seen.
	Events []histories.Event `json:"-"`
}

// Report is the judgement of one history.
type Report struct {
	Verdict Verdict  `json:"verdict"` // of all properties together
	Vacuous []string `json:"vacuous,omitempty"`
	// Disturbed says what happened to lockbench itself during the run: see disturb.
	Disturbed []string `json:"disturbed,omitempty"`
	// HarnessErrors say what the history or the checker itself did wrong. They are
	// never the lock's fault.
	HarnessErrors []string `json:"harness_errors,omitempty"`
	Panicked      bool     `json:"-"` // one of them is that a judge panicked
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
