package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

func newVerify() *cobra.Command {
	var format, commands string
	cmd := &cobra.Command{
		Use:   "verify HISTORY CERTIFICATE",
		Short: "Verify a certificate of verdicts on a history",
		Long: `Verify holds a certificate, as lockbench check --certificate writes it, against its history: a run directory, or lockbench's
history.jsonl. It shares no code with the judges but what reads files: it looks in the history again for what each rule forbids, and for the events
and inequalities that a verdict names. docs/certificates.md tells what a certificate proves, so that anybody can write
another verifier.

If something is proven by the commands that crossed the wire, they are read, too, and must be those of the certificate.

It exits with 0 if all that the certificate proves holds, with 1 if something does not, and with 2 if it proves nothing. A file
that is no history or no certificate, or is of another history, is exit 254.`,
		Example: `  lockbench check history.jsonl --certificate certificate.json
  lockbench verify history.jsonl certificate.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return usage(fmt.Errorf("%s needs a history and a certificate, found %d files (%[1]s --help)", cmd.CommandPath(), len(args)))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return usage(err)
			}
			defer debug.SetGCPercent(debug.SetGCPercent(thrift))
			c, err := verifyFiles(args[0], commands, args[1])
			rejected, ok := errors.AsType[*certificate.RejectedError](err)
			if err != nil && !ok {
				return usage(err)
			}
			return tellVerified(cmd.OutOrStdout(), format, args[1], c, rejected)
		},
	}
	formatFlag(cmd, &format)
	cmd.Flags().StringVar(&commands, "commands", "", "what crossed the wire, if something is proven by that (default: commands.jsonl beside the history)")
	return cmd
}

// verifyFiles returns a certificate that was accepted.
func verifyFiles(history, commands, name string) (certificate.Certificate, error) {
	f, err := os.Open(name)
	if err != nil {
		return certificate.Certificate{}, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	c, err := certificate.Read(f)
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	events, err := openEvents(history)
	if err != nil {
		return c, err
	}
	defer func() { _ = events.Close() }() // read only: nothing can be lost
	if c.Commands == nil {
		return c, certificate.Verify(events, nil, c)
	}
	sent, err := os.Open(cmp.Or(commands, harness.CommandsBeside(history)))
	if err != nil {
		return c, fmt.Errorf("something is proven by commands: %w", err)
	}
	defer func() { _ = sent.Close() }() // read only: nothing can be lost
	return c, certificate.Verify(events, sent, c)
}

// openEvents opens the events of a run directory, or a file.
func openEvents(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, histories.EventsFile)
	}
	return os.Open(path)
}

// verifiedDocument is what verify prints.
type verifiedDocument struct {
	Schema   int           `json:"schema"`
	File     string        `json:"file"`
	Rejected string        `json:"rejected,omitempty"` // what does not hold
	Proven   []toldVerdict `json:"proven"`
	Unproven []toldVerdict `json:"unproven"` // told by the certificate, and not verified
}

type toldVerdict struct {
	Property string `json:"property"`
	Verdict  string `json:"verdict"`
	Proof    string `json:"proof,omitempty"`  // its kind
	Reason   string `json:"reason,omitempty"` // why there is none
}

// tellVerified prints what a certificate proves, or that it is rejected, and says how the program ends.
func tellVerified(stdout io.Writer, format, file string, c certificate.Certificate, rejected *certificate.RejectedError) error {
	doc := verifiedDocument{Schema: outputSchema, File: file, Proven: []toldVerdict{}, Unproven: []toldVerdict{}}
	for _, v := range c.Proven {
		doc.Proven = append(doc.Proven, toldVerdict{Property: v.Rule, Verdict: v.Verdict, Proof: v.Proof})
	}
	for _, u := range c.Unproven {
		doc.Unproven = append(doc.Unproven, toldVerdict{Property: u.Rule, Verdict: u.Verdict, Reason: u.Reason})
	}
	if rejected != nil {
		doc.Rejected, doc.Proven = rejected.Err.Error(), []toldVerdict{}
	}
	var err error
	switch {
	case format == formatJSON:
		err = report.WriteJSON(stdout, doc)
	case rejected == nil:
		_, err = fmt.Fprint(stdout, report.Clean(doc.text()))
	}
	switch {
	case err != nil:
		return failure(err)
	case rejected != nil:
		return &exitError{code: exitUnexpected, err: rejected, told: true}
	case len(c.Proven) == 0:
		return &exitError{code: exitUnknown}
	}
	return nil
}

func (d verifiedDocument) text() string {
	text := ""
	for _, v := range d.Proven {
		text += fmt.Sprintf("%-18s %-14s accepted, by %s\n", v.Property, v.Verdict, v.Proof)
	}
	for _, u := range d.Unproven {
		text += fmt.Sprintf("%-18s %-14s not proven: %s\n", u.Property, u.Verdict, u.Reason)
	}
	if len(d.Proven) == 0 {
		return text + "The certificate is one of this history, and proves nothing.\n"
	}
	return text + fmt.Sprintf("The certificate is accepted: %s proven, %d told without a proof.\n", words.Count(len(d.Proven), "verdict"), len(d.Unproven))
}

// certify writes the certificate of a report on a history. There is none if lockbench itself, or the
// history, is wrong, which the report says.
func (f *checkFlags) certify(path string, meta *histories.Meta, r checker.Report) error {
	if f.certificate == "" || len(r.HarnessErrors) > 0 {
		return nil
	}
	events, err := openEvents(path)
	if err != nil {
		return failure(err)
	}
	defer func() { _ = events.Close() }() // read only: nothing can be lost
	terms := certify.Terms(harness.Terms(harness.WithTerms(meta, libraries.Catalogue())))
	var commands io.ReadSeeker // of a run that has kept them whole
	if terms.Kept, terms.Register = harness.Kept(meta); terms.Kept != nil {
		if sent, err := os.Open(harness.CommandsBeside(path)); err == nil {
			defer func() { _ = sent.Close() }() // read only: nothing can be lost
			commands = sent
		}
	}
	c, err := certify.Certify(events, commands, r, terms)
	if _, foreign := errors.AsType[*certificate.HistoryError](err); foreign {
		return usage(fmt.Errorf("no certificate of %s: it is not lockbench's JSONL, which lockbench convert --to jsonl writes: %w", path, err))
	}
	if err != nil {
		return failure(err)
	}
	var b bytes.Buffer
	if err := certificate.Write(&b, c); err != nil {
		return failure(err)
	}
	if err := gate.WriteFile(f.certificate, b.Bytes()); err != nil {
		return failure(err)
	}
	return nil
}

// certifiable returns why there can be no certificate of a history, if it is asked for.
func (f *checkFlags) certifiable(path string) error {
	switch {
	case f.certificate == "":
		return nil
	case path == histories.Stdin:
		return errors.New("--certificate reads the history again, and standard input can be read but once; keep it in a file")
	case f.lenient:
		return errors.New("--certificate and --lenient do not go together: a certificate is of a history that is sound")
	case f.model != modelLock:
		return fmt.Errorf("--certificate is of the properties of locks, and not of model %s", f.model)
	}
	return gate.CanWrite(f.certificate)
}
