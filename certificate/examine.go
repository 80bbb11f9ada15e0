package certificate

import (
	"io"

	"github.com/lockbench/lockbench/histories"
)

// An Examination is a history in which rules can be looked for, to find certificates of it.
type Examination struct{ v *verifier }

// Examine reads a history. An error is a *HistoryError.
func Examine(history io.Reader, terms Terms) (Examination, error) {
	v := &verifier{tables: newTables(terms), named: make(map[int]histories.Event)}
	err := v.read(history, nil)
	if err == nil {
		err = v.broken
	}
	if err != nil {
		return Examination{}, &HistoryError{err}
	}
	return Examination{v}, nil
}

// Subject is the history.
func (x Examination) Subject() Subject { return x.v.subject() }

// Passes says why a rule does not pass, or nil.
func (x Examination) Passes(rule string) error {
	return x.v.holds(&Verdict{Rule: rule, Verdict: Pass, Proof: BySearch})
}

// Fails are the first violations of a rule, and at most so many; where their events are is left open.
func (x Examination) Fails(rule string, most int) (all []Verdict) {
	searches()[rule](x.v.tables, func(f finding) {
		if v := f.verdict(rule); f.certain && len(all) < most && f.is(&v) && v.wellFormed() == nil {
			all = append(all, v)
		}
	})
	return all
}
