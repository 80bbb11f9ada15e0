package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
)

// outputs are what gate and merge write, and the baseline that they read.
type outputs struct {
	format, json, baseline string
	pages                  pages
	update                 bool
}

func (o *outputs) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.json, "json", "", "write the results into this file, for lockbench merge and other programs")
	o.pages.flags(cmd)
	formatFlag(cmd, &o.format)
	flags.StringVar(&o.baseline, "baseline", "", "file with the findings that are known; only others fail")
	flags.BoolVar(&o.update, "update-baseline", false, "accept what was found, into --baseline")
}

// validate finds out what would otherwise fail at the very end.
func (o *outputs) validate(shard gate.Shard) error {
	if err := oneOf("format", o.format, formats()); err != nil {
		return err
	}
	switch {
	case o.update && o.baseline == "":
		return errors.New("--update-baseline needs --baseline FILE")
	case o.update && shard.Of > 1:
		return errors.New("--update-baseline does not go with --shard: lockbench merge --baseline FILE --update-baseline accepts what all shards found")
	}
	if o.json != "" {
		if err := gate.CanWrite(o.json); err != nil {
			return err
		}
	}
	if err := o.pages.validate(); err != nil {
		return err
	}
	if o.update {
		return gate.CanWrite(o.baseline)
	}
	_, err := o.known()
	return err
}

// known reads the baseline. One that is to be updated need not exist.
func (o *outputs) known() (gate.Baseline, error) {
	if o.baseline == "" {
		return gate.Baseline{}, nil
	}
	b, err := gate.ReadBaseline(o.baseline)
	if o.update && gate.Missing(err) {
		return gate.Baseline{}, nil
	}
	return b, err
}

// deliver prints the results, writes the files, and says how the program ends.
func (o *outputs) deliver(res gate.Results, stdout io.Writer) error {
	known, err := o.known()
	if err != nil {
		return failure(err)
	}
	accept := o.update && res.Whole() // half a gate would accept half of the findings
	if accept {
		known = known.Accept(res)
	}
	if err := o.print(res, known, stdout); err != nil {
		return failure(err)
	}
	written, err := o.write(res, known, accept)
	if err != nil {
		return failure(err)
	}
	if len(written) > 0 && o.format == formatText {
		fmt.Fprintln(unlessTerse(stdout), "Written: "+strings.Join(written, ", "))
	}
	return outcomeOf(res, known)
}

// print prints the results in the format that was asked for.
func (o *outputs) print(res gate.Results, known gate.Baseline, stdout io.Writer) error {
	if o.format != formatJSON {
		return res.Text(stdout, known, styleOf(stdout))
	}
	data, err := res.Marshal()
	if err == nil {
		_, err = stdout.Write(data)
	}
	return err
}

// write writes the files that were asked for, the baseline if accept says so, and returns their names.
func (o *outputs) write(res gate.Results, known gate.Baseline, accept bool) ([]string, error) {
	var written []string
	for _, out := range []struct {
		file string
		wish bool
		draw func() ([]byte, error)
	}{
		{o.json, o.json != "", res.Marshal},
		{o.pages.junit, o.pages.junit != "", drawn(res.JUnit, known)},
		{o.pages.markdown, o.pages.markdown != "", drawn(res.Markdown, known)},
		{o.baseline, accept, known.Marshal},
	} {
		if !out.wish {
			continue
		}
		data, err := out.draw()
		if err == nil {
			err = gate.WriteFile(out.file, data)
		}
		if err != nil {
			return nil, err
		}
		written = append(written, out.file)
	}
	return written, nil
}

// outcomeOf is the exit code of a gate. A shard has none of its own.
func outcomeOf(res gate.Results, known gate.Baseline) error {
	if !res.Whole() {
		return nil
	}
	switch res.Outcome(known) {
	case gate.Expected:
		return nil
	case gate.Unexpected:
		return &exitError{code: exitUnexpected}
	case gate.Failed:
		return &exitError{code: exitHarness}
	case gate.NotApplicable:
		return &exitError{code: exitUnfit}
	}
	return &exitError{code: exitUnknown}
}

func drawn(draw func(io.Writer, gate.Baseline) error, known gate.Baseline) func() ([]byte, error) {
	return func() ([]byte, error) {
		var b bytes.Buffer
		err := draw(&b, known)
		return b.Bytes(), err
	}
}
