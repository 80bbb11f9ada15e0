// Package certify finds certificates of verdicts: what certificate.Verify accepts.
//
// It knows the judges, and the verifier knows neither them nor it. What it finds is held against the
// history by the code that verifies, so that a proof which that would reject is not written.
package certify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lockbench/lockbench/certificate"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Certify returns the certificate of a report on a history in lockbench's JSONL. Verdicts that are not
// proven are in it with the reason. The history is read several times, and held in memory meanwhile.
//
// An error is a *certificate.HistoryError, a *DisagreementError, or says that the history cannot be read
// again or that the finder is wrong.
func Certify(history io.ReadSeeker, report checker.Report) (certificate.Certificate, error) {
	events, err := read(history)
	if err != nil {
		return certificate.Certificate{}, err
	}
	c := certificate.Certificate{
		Schema: certificate.Schema, Proven: []certificate.Verdict{}, Explanations: []certificate.Explanation{}, Unproven: []certificate.Unproven{},
	}
	drafts, err := prove(history, draftsOf(events, report))
	if err != nil {
		return c, err
	}
	c.History = drafts.History
	explanations, missing := explain(events)
	if err := disagreement(events, report, explanations); err != nil {
		return c, err
	}
	for _, res := range report.Results {
		i := slices.IndexFunc(drafts.Proven, func(v certificate.Verdict) bool { return v.Rule == string(res.Property) })
		switch {
		case i >= 0:
			c.Proven = append(c.Proven, drafts.Proven[i])
		case explains(res) && missing == "" && len(explanations) > 0:
			c.Explanations = explanations
			c.Proven = append(c.Proven, certificate.Verdict{Rule: string(res.Property), Verdict: certificate.Pass, Proof: certificate.ByExplanation})
		default:
			c.Unproven = append(c.Unproven, certificate.Unproven{Rule: string(res.Property), Verdict: res.Verdict.String(), Reason: reason(res, missing)})
		}
	}
	if err := locate(history, c.Proven); err != nil {
		return c, err
	}
	return c, accepted(history, c)
}

// accepted says why a certificate that was found would be rejected, which is an error of the finder.
func accepted(history io.ReadSeeker, c certificate.Certificate) error {
	if err := rewind(history); err != nil {
		return err
	}
	if err := certificate.Verify(history, c); err != nil {
		return fmt.Errorf("what was found proves nothing: %w", err)
	}
	return nil
}

// A DisagreementError says that a judge accuses, and that an explanation of all calls says it cannot be
// right.
type DisagreementError struct{ Rule, Key string }

func (e *DisagreementError) Error() string {
	return fmt.Sprintf("checker disagreement: %s fails on %q, and an order explains all calls on that key", e.Rule, e.Key)
}

// disagreement is the error of a fail that an explanation contradicts. Replies may be untrue in more than
// what explanations tell.
func disagreement(events []histories.Event, report checker.Report, found []certificate.Explanation) error {
	for _, res := range report.Results {
		if res.Verdict != checker.Fail || !explainable(res) || res.Property == checker.TruthfulReplies || len(res.Witness) == 0 || slices.Max(res.Witness) >= len(events) {
			continue
		}
		key := events[slices.Max(res.Witness)].Key
		if slices.ContainsFunc(found, func(e certificate.Explanation) bool { return e.Key == key }) {
			return &DisagreementError{string(res.Property), key}
		}
	}
	return nil
}

// explainable says whether a verdict is of a rule that explanations prove to hold.
func explainable(res checker.Result) bool {
	return slices.Contains([]checker.Property{checker.LeaseHonoured, checker.Ownership, checker.TruthfulReplies}, res.Property)
}

// explains says whether explanations prove a verdict.
func explains(res checker.Result) bool {
	return res.Verdict == checker.Pass && explainable(res)
}

// reason is why a verdict is not proven; missing says of which key there is no explanation.
func reason(res checker.Result, missing string) string {
	switch {
	case explains(res) && missing != "":
		return missing
	case res.Verdict == checker.Pass:
		return "no kind of proof is of a pass of this rule"
	case res.Verdict == checker.Fail:
		return "no kind of proof fits what was found"
	}
	return "it claims nothing that could be proven"
}

func rewind(history io.Seeker) error {
	_, err := history.Seek(0, io.SeekStart)
	return err
}

func read(history io.ReadSeeker) ([]histories.Event, error) {
	if err := rewind(history); err != nil {
		return nil, err
	}
	events, err := histories.ReadJSONL(history, "the history")
	if err != nil {
		return nil, &certificate.HistoryError{Err: err}
	}
	return events, nil
}

// prove returns a certificate with those of the drafts that hold.
func prove(history io.ReadSeeker, drafts []certificate.Verdict) (certificate.Certificate, error) {
	if err := rewind(history); err != nil {
		return certificate.Certificate{}, err
	}
	c, errs, err := certificate.Prove(history, certificate.Certificate{Proven: drafts})
	if err != nil {
		return c, err
	}
	var proven []certificate.Verdict
	for i, v := range c.Proven {
		if errs[i] == nil {
			proven = append(proven, v)
		}
	}
	c.Proven = proven
	return c, nil
}

// locate fills in where the events are that verdicts name.
func locate(history io.ReadSeeker, verdicts []certificate.Verdict) error {
	wanted := make(map[int][]*certificate.Named)
	for i := range verdicts {
		for j := range verdicts[i].Events {
			n := &verdicts[i].Events[j]
			wanted[n.Index] = append(wanted[n.Index], n)
		}
	}
	if err := rewind(history); err != nil {
		return err
	}
	in := bufio.NewReader(history)
	offset := int64(0)
	for index := 0; len(wanted) > 0; {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("it has %d events now, and had more: it must not change meanwhile", index)
			}
			return &certificate.HistoryError{Err: err}
		}
		text := bytes.TrimSuffix(line, []byte{'\n'})
		if len(bytes.TrimSpace(text)) > 0 {
			sum := sha256.Sum256(text)
			for _, n := range wanted[index] {
				n.Offset, n.SHA256 = offset, hex.EncodeToString(sum[:])
			}
			delete(wanted, index)
			index++
		}
		offset += int64(len(line))
	}
	return nil
}
