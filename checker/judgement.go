package checker

// JudgementSchema is the version of the JSON of a Judgement.
const JudgementSchema = 1

// A Judgement is a report and what had been expected of the run: what results.json holds. Of
// a history that somebody else recorded nothing is expected.
type Judgement struct {
	Schema    int      `json:"schema"`
	Report             // its fields stand beside the others
	Outcome   Outcome  `json:"outcome"`
	Expected  []Judged `json:"expected"`         // of every property
	Survivors []string `json:"survivors"`        // commands of the locks that survive the same steps
	Causes    []Cause  `json:"causes,omitempty"` // of the properties that failed, the nearest first
	Peers     *Peers   `json:"peers,omitempty"`  // of random load: by whom its findings were measured
	Note      string   `json:"note,omitempty"`   // what the run shows
	Why       string   `json:"why,omitempty"`    // why the broken lock breaks
}

// NewJudgement sets a report against an expectation: against want, or, if all is Pass or Fail,
// against that one verdict for all properties together. Pass wants every one to hold, Fail wants
// at least one violation, and any other verdict is an error.
func NewJudgement(r Report, want Expectation, all Verdict) (Judgement, error) {
	j := Judgement{Schema: JudgementSchema, Report: r, Expected: []Judged{}, Survivors: []string{}}
	if j.Results == nil {
		j.Results = []Result{} // a list, also if it is empty
	}
	var judged []Judged
	var err error
	if all == Unknown {
		j.Outcome, judged = Compare(r, want)
	} else if j.Outcome, judged, err = compareAll(r, all); err != nil {
		return j, err
	}
	if judged != nil {
		j.Expected = judged
	}
	return j, nil
}
