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

// Hear reads the commands of the history. An error is a *CommandsError.
func (x Examination) Hear(commands io.Reader) (Commands, error) {
	found, err := x.v.listen(commands, nil)
	if err != nil {
		return found, &CommandsError{err}
	}
	return found, nil
}

// Passes returns why a rule does not pass by a kind of proof, or nil.
func (x Examination) Passes(rule, proof string) error {
	return x.v.holds(&Verdict{Rule: rule, Verdict: Pass, Proof: proof})
}

// Fails are the first violations of a rule by a kind of proof, and at most so many; where their events and
// commands are is left open.
func (x Examination) Fails(rule, proof string, most int) (all []Verdict) {
	v := Verdict{Rule: rule, Proof: proof}
	v.search()(x.v.tables, func(f finding) {
		if v := f.verdict(rule, proof); f.certain && len(all) < most && f.is(&v) && v.wellFormed() == nil {
			all = append(all, v)
		}
	})
	return all
}
