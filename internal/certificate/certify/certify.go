// Package certify finds certificates of verdicts: what certificate.Verify accepts.
//
// It knows the judges, and the verifier knows neither them nor it. What it finds is held against the
// history by the code that verifies, so that a proof which that would reject is not written.
package certify

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
)

// Certify returns the certificate of a report on a history in lockbench's JSONL, which was judged on some
// terms. Verdicts that are not proven are in it with the reason. The history is read several times, and
// held in memory meanwhile. The commands of its run are read if a verdict has no proof without them; they are nil
// if the judges did not know them.
//
// An error is a *certificate.HistoryError, a *certificate.CommandsError, a *DisagreementError, or says that
// a file cannot be read again or that the finder is wrong.
func Certify(history, commands io.ReadSeeker, report checker.Report, terms certificate.Terms) (certificate.Certificate, error) {
	c := certificate.Certificate{
		Schema: certificate.Schema, Terms: terms,
		Proven: []certificate.Verdict{}, Explanations: []certificate.Explanation{}, Unproven: []certificate.Unproven{},
	}
	events, err := read(history)
	if err != nil {
		return c, err
	}
	if err := rewind(history); err != nil {
		return c, err
	}
	found, err := certificate.Examine(history, terms)
	if err != nil {
		return c, err
	}
	c.History = found.Subject()
	explanations, missing := explain(events)
	if err := disagreement(events, report, explanations); err != nil {
		return c, err
	}
	for _, res := range report.Results {
		byExplanation := explains(res) && missing == "" && len(explanations) > 0
		if res.Property == checker.TruthfulReplies && slices.ContainsFunc(events, func(e histories.Event) bool { return e.F == histories.Verify }) {
			byExplanation = false // explanations are of what changes the lock
		}
		if byExplanation {
			c.Explanations = explanations
		}
		v, err := proven(found, res, kindOf(byExplanation))
		if err != nil && commands != nil && byCommands(res) {
			if err := hear(commands, found, &c); err != nil {
				return c, err
			}
			v, err = proven(found, res, certificate.ByCommands)
		}
		if err == nil {
			c.Proven = append(c.Proven, v)
		} else {
			c.Unproven = append(c.Unproven, certificate.Unproven{Rule: string(res.Property), Verdict: res.Verdict.String(), Reason: err.Error()})
		}
	}
	if c.Commands == nil {
		c.Terms.Kept, c.Terms.Register = nil, ""
	}
	if err := locateAll(history, commands, &c); err != nil {
		return c, err
	}
	return c, accepted(history, commands, c)
}

// kindOf is the kind of proof of a verdict that the history itself proves.
func kindOf(byExplanation bool) string {
	if byExplanation {
		return certificate.ByExplanation
	}
	return certificate.BySearch
}

// byCommands reports whether commands may prove what the history does not.
func byCommands(res checker.Result) bool {
	return (res.Verdict == checker.Pass || res.Verdict == checker.Fail) &&
		slices.Contains([]checker.Property{checker.Ownership, checker.TruthfulReplies, checker.Load}, res.Property)
}

// hear reads the commands, unless they have been read.
func hear(commands io.ReadSeeker, found certificate.Examination, c *certificate.Certificate) error {
	if c.Commands != nil {
		return nil
	}
	if err := rewind(commands); err != nil {
		return err
	}
	heard, err := found.Hear(commands)
	c.Commands = &heard
	return err
}

// mostFound is how many violations of a rule are looked at, for the one that the judge tells of.
const mostFound = 1000

// proven returns the proof of a verdict, of a kind. The error is why there is none.
func proven(found certificate.Examination, res checker.Result, kind string) (certificate.Verdict, error) {
	rule := string(res.Property)
	switch res.Verdict {
	case checker.Pass:
		v := certificate.Verdict{Rule: rule, Verdict: certificate.Pass, Proof: kind}
		if kind == certificate.ByExplanation {
			return v, nil
		}
		return v, found.Passes(rule, kind)
	case checker.Fail:
		if all := found.Fails(rule, kind, mostFound); len(all) > 0 {
			return slices.MaxFunc(all, func(a, b certificate.Verdict) int { return cmp.Compare(told(a, res), told(b, res)) }), nil
		}
		return certificate.Verdict{}, errors.New("nothing in the history proves it, without more than it tells")
	}
	return certificate.Verdict{}, errors.New("it claims nothing that could be proven")
}

// told is how many of the events of a proof the judge names.
func told(v certificate.Verdict, res checker.Result) (n int) {
	for _, e := range v.Events {
		if slices.Contains(res.Witness, e.Index) {
			n++
		}
	}
	return n
}

// Terms are those of a certificate of what was judged with some options.
func Terms(opt checker.Options) certificate.Terms {
	faults := []string{}
	for _, f := range opt.FaultsOfClients() {
		faults = append(faults, string(f))
	}
	return certificate.Terms{
		Slack: opt.Leeway(), Masters: opt.Masters, Overtaking: opt.Overtaking, Threads: opt.Threads, Poll: opt.Poll, SilentRelease: opt.SilentRelease, ClientFaults: faults,
	}
}

// accepted returns why a certificate that was found would be rejected, which is an error of the finder.
func accepted(history, commands io.ReadSeeker, c certificate.Certificate) error {
	if err := rewind(history); err != nil {
		return err
	}
	if c.Commands != nil {
		if err := rewind(commands); err != nil {
			return err
		}
	}
	if err := certificate.Verify(history, commands, c); err != nil {
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

// explainable reports whether a verdict is of a rule that explanations prove to hold.
func explainable(res checker.Result) bool {
	return slices.Contains([]checker.Property{checker.LeaseHonoured, checker.Ownership, checker.TruthfulReplies}, res.Property)
}

// explains reports whether explanations prove a verdict.
func explains(res checker.Result) bool {
	return res.Verdict == checker.Pass && explainable(res)
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

// locateAll fills in where the events and the commands are that verdicts name.
func locateAll(history, commands io.ReadSeeker, c *certificate.Certificate) error {
	events, sent := make(map[int][]*certificate.Named), make(map[int][]*certificate.Named)
	for i := range c.Proven {
		v := &c.Proven[i]
		for j := range v.Events {
			n := &v.Events[j]
			events[n.Index] = append(events[n.Index], n)
		}
		for j := range v.Commands {
			n := &v.Commands[j]
			sent[n.Index] = append(sent[n.Index], n)
		}
	}
	if err := locate(history, events); err != nil {
		return &certificate.HistoryError{Err: err}
	}
	if err := locate(commands, sent); err != nil {
		return &certificate.CommandsError{Err: err}
	}
	return nil
}

// locate fills in where the lines of a file are.
func locate(file io.ReadSeeker, wanted map[int][]*certificate.Named) error {
	if len(wanted) == 0 {
		return nil
	}
	if err := rewind(file); err != nil {
		return err
	}
	in := bufio.NewReader(file)
	offset := int64(0)
	for index := 0; len(wanted) > 0; {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("it has %d lines now, and had more: it must not change meanwhile", index)
			}
			return err
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
