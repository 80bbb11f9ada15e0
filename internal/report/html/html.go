// Package html draws one run as one page that needs nothing else: no network, no server and,
// to be read, no script.
package html

import (
	"crypto/sha256"
	_ "embed" // the template, the style and the script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
)

//go:embed page.tmpl
var source string

//go:embed style.css
var style string

//go:embed script.js
var script string

// Options say what a page is told beside the run. The zero value is usable.
type Options struct {
	// Language is the one that the page is told in. What no language but English has, such as what judges say of a run, is in
	// English there and marked as such.
	Language language.Language
	// Notices are told before anything else, such as what of the run could not be read.
	Notices []string
	// Files are links to what lies beside the page, in their order.
	Files []File
	// Store is a link to the store that the run lies in; empty if it lies in none.
	Store string
	// Proof are the commands that prove the verdicts to another program, in the directory of the run; empty if there are none.
	Proof []string
	// Model is what the history was judged as by linearizability; empty if it is that of a lock.
	Model checker.Model
	// Plots draws what happened over time, as package plot does. Nil: no plots are on the page.
	Plots func(report.Run) ([]report.Plot, error)
}

// A File is a link to a file of the run.
type File struct {
	Name string // such as history.jsonl
	Href string // relative to the page
}

// Write writes the page of a run. The same run gives the same bytes. A part that cannot be
// drawn says so on the page, and the others are drawn; an error is w's.
func Write(w io.Writer, r report.Run, opt Options) error {
	r = r.Told()
	r.Language = opt.Language
	t, err := template.New("page").Funcs(sayings(opt.Language)).Parse(source)
	if err != nil {
		return fmt.Errorf("the template of the page is wrong: %w", err)
	}
	return t.Execute(w, newPage(r, opt))
}

// sayings are how the template says things in a language: say a text, tell a format with what is to be put in, and quote English
// prose of a run, in the language if it is known there and else as English.
func sayings(in language.Language) template.FuncMap {
	return template.FuncMap{
		"say":  func(english string) template.HTML { return template.HTML(in.Say(english)) }, // a text of the program, and not of a run
		"tell": in.Sayf,
		"tag":  in.Tag,
		"quote": func(english string) any {
			if in.Has(english) {
				return in.Say(english)
			}
			return template.HTML(`<span lang="en">` + template.HTMLEscapeString(english) + `</span>`)
		},
	}
}

// spoken is the style or the script of a page with its words, which are quoted there, in a language.
func spoken(source string, in language.Language) string {
	for _, word := range quoted() {
		source = strings.ReplaceAll(source, strconv.Quote(word), strconv.Quote(in.Say(word)))
	}
	return source
}

// quoted are the words of the style and the script.
func quoted() []string {
	return []string{"Holds if ", "Light", "Dark", " colours", "Copy: ", "Copied", "Press Ctrl+C", "Copy"}
}

// Policy is what a page may do, as a content security policy: nothing but what it brought itself. A script that somebody
// smuggled in would not be one of these and does not run.
func Policy(scripts ...string) string {
	var b strings.Builder
	b.WriteString("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; frame-src 'self'; style-src 'unsafe-inline'; script-src")
	for _, s := range scripts {
		if s != "" {
			sum := sha256.Sum256([]byte(s))
			b.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
		}
	}
	return b.String()
}
