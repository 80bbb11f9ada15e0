// Package checker judges recorded histories. It reads nothing but events.
package checker

import "time"

// Verdict is the outcome of a judge. The zero value is Unknown, and Unknown never passes.
type Verdict uint8

// False beats unknown beats true; a property that does not apply takes no part.
const (
	Unknown Verdict = iota
	Pass
	Fail
	NotApplicable
)

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
	Results []Result `json:"results"`
}
