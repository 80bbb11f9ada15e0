package report

import (
	"encoding/json"
	"io"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Schema is the version of the JSON of a Run and of a Check.
const Schema = 1

// document is a Run as JSON has it. What is not known is left out.
type document struct {
	Schema  int                `json:"schema"`
	Run     *histories.Meta    `json:"run,omitempty"`
	Results *checker.Judgement `json:"results,omitempty"`
	Dir     string             `json:"dir,omitempty"`
	Error   string             `json:"error,omitempty"`
	Unfit   bool               `json:"not_applicable,omitempty"` // says what Error is
}

func (r Run) document() document {
	d := document{Schema: Schema, Dir: r.Dir, Error: r.Error, Unfit: r.Unfit}
	if r.Meta.Schema != 0 {
		d.Run = &r.Meta
	}
	if r.Judgement.Schema != 0 {
		if r.Results == nil {
			r.Results = []checker.Result{} // r is a copy
		}
		d.Results = &r.Judgement
	}
	return d
}

// JSON writes r as one indented JSON object. A run that was not begun, or not judged, has no
// description, or no results.
func JSON(w io.Writer, r Run) error { return WriteJSON(w, r.document()) }

// JSONLine writes r as JSON does, in one line.
func JSONLine(w io.Writer, r Run) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r.document())
}

// WriteJSON writes v as one indented JSON value. Bytes that are no UTF-8 become U+FFFD.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
