// Package certificate checks verdicts on a history without trusting who gave them.
//
// A certificate names a history by its hash and, for each verdict that it proves, the events and the
// inequalities, or the explanation, that prove it; docs/certificates.md has the format. Verify reads
// both. It shares no code with the judges of lockbench but what package histories has: the reader of
// histories, and what tells what commands did to keys.
package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Schema is the version of certificates.
const Schema = 2

// MaxSize is how many bytes a certificate may have.
const MaxSize = 1 << 30

// A Certificate proves verdicts on one history.
type Certificate struct {
	Schema  int     `json:"schema"`
	History Subject `json:"history"`
	// Commands are those of the run, if something is proven by them.
	Commands *Commands `json:"commands,omitempty"`
	Terms    Terms     `json:"terms"`
	Proven   []Verdict `json:"proven"`
	// Explanations are of keys, at most one of each. The verdicts by explanation need one of every key
	// that somebody asked for.
	Explanations []Explanation `json:"explanations"`
	Unproven     []Unproven    `json:"unproven"` // told, and not verified
}

// A Subject is the history that a certificate is of.
type Subject struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of all bytes, in lower-case hexadecimal digits
	Events int    `json:"events"`
}

// Commands are a file with what crossed the wire, as histories.WriteExchanges writes it.
type Commands struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines"` // commands
}

// Terms are what verdicts depend on besides the history.
type Terms struct {
	Slack         time.Duration `json:"slack"`                    // how late a server may be, in nanoseconds
	Masters       int           `json:"masters,omitempty"`        // independent ones that the lock has; 0 means 1
	Overtaking    int           `json:"overtaking,omitempty"`     // how often the lock allows that one client overtakes another who waits
	Threads       int           `json:"threads,omitempty"`        // how many clients, from the first on, are threads of one process
	Poll          time.Duration `json:"poll,omitempty"`           // shortest interval that the lock promises between two tries; 0: none
	SilentRelease bool          `json:"silent_release,omitempty"` // a release that succeeds does not say whose lock it was
	ClientFaults  []string      `json:"client_faults"`            // faults that stop, cut or delay clients, and touch no server
	// Kept is where servers keep the lock on a key, if that is not in database 0 under its own name.
	Kept     map[string][]histories.Place `json:"kept,omitempty"`
	Register string                       `json:"register,omitempty"` // node that keeps no locks
}

// A Verdict is one that is proven.
type Verdict struct {
	Rule    string `json:"rule"`    // the property, as in reports
	Verdict string `json:"verdict"` // "fail" or "pass"
	Proof   string `json:"proof"`   // its kind
	// Of a fail:
	Key      string   `json:"key,omitempty"`
	Attempts []uint64 `json:"attempts,omitempty"`
	Events   []Named  `json:"events,omitempty"`
	Bounds   []Bound  `json:"bounds,omitempty"`
	Commands []Named  `json:"commands,omitempty"` // the index of the first is 0
}

// The verdicts that can be proven.
const (
	Fail = "fail"
	Pass = "pass"
)

// Unproven is a verdict without a proof.
type Unproven struct {
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// Named is an event, or a command, with the part that it has in a proof.
type Named struct {
	Role   string `json:"role"`
	Index  int    `json:"index"`
	Offset int64  `json:"offset"` // bytes of the file before its line
	SHA256 string `json:"sha256"` // of its line without the newline
}

// A Bound says that a number is less than another, or at most as great.
type Bound struct {
	Lower string `json:"lower"` // what the number is
	Low   int64  `json:"low"`
	Than  string `json:"than"` // "<", "<=" or "="
	Upper string `json:"upper"`
	High  int64  `json:"high"`
}

func (b Bound) holds() bool {
	switch b.Than {
	case "<":
		return b.Low < b.High
	case "<=":
		return b.Low <= b.High
	case "=":
		return b.Low == b.High
	}
	return false
}

// An Explanation tells when the calls on a lock took effect.
type Explanation struct {
	Key     string `json:"key"`
	Calls   int    `json:"calls"`   // that took effect
	Effects []byte `json:"effects"` // see docs/certificates.md
}

// A FormatError says why something is no certificate.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "no certificate: " + e.Err.Error() }
func (e *FormatError) Unwrap() error { return e.Err }

// Read returns the certificate that r holds, and nothing else. An error is a *FormatError unless r
// could not be read.
func Read(r io.Reader) (Certificate, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return Certificate{}, err
	}
	if len(text) > MaxSize {
		return Certificate{}, &FormatError{fmt.Errorf("it has more than %d bytes", MaxSize)}
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var c Certificate
	if err := in.Decode(&c); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errors.New("the JSON object is incomplete, the file may have been cut")
		}
		return Certificate{}, &FormatError{err}
	}
	if rest := bytes.TrimSpace(text[in.InputOffset():]); len(rest) > 0 {
		return Certificate{}, &FormatError{fmt.Errorf("%d bytes follow the JSON object, want none", len(rest))}
	}
	if c.Schema != Schema {
		return Certificate{}, &FormatError{fmt.Errorf("schema is %d, want %d", c.Schema, Schema)}
	}
	return c, nil
}

// Write writes c as Read reads it.
func Write(w io.Writer, c Certificate) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	return out.Encode(c)
}
