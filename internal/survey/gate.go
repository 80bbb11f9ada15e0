package survey

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
)

// gateResults are what this package wants of the results of a gate, see docs/formats.md.
type gateResults struct {
	Version string `json:"version"`
	Rows    []row  `json:"rows"`
	Error   string `json:"error"`
}

type row struct {
	ID       string    `json:"id"`
	Scenario string    `json:"scenario"`
	Outcome  string    `json:"outcome"`
	Reason   string    `json:"reason"`
	Judged   []finding `json:"judged"`
	Causes   []cause   `json:"causes"`
	Command  string    `json:"command"`
}

type finding struct {
	Property    string `json:"property"`
	Got         string `json:"got"`
	Met         bool   `json:"met"`
	Story       string `json:"story"`
	Unavoidable bool   `json:"unavoidable"`
}

type cause struct {
	Explains []string  `json:"explains"`
	Sentence string    `json:"sentence"`
	Anomaly  string    `json:"anomaly"`
	Commands []command `json:"commands"`
}

type command struct {
	Exchange int    `json:"exchange"`
	Client   string `json:"client"`
	Node     string `json:"node"`
	Command  string `json:"command"`
	Reply    string `json:"reply"`
}

func readResults(file string) (gateResults, error) {
	var r gateResults
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// outcomes of a row
const (
	expected    = "expected"
	unexpected  = "unexpected"
	unavoidable = "unavoidable"
	inapt       = "not-applicable"
	broke       = "error"
)

// open reports whether a row came to no verdict.
func (r row) open() bool {
	return !slices.Contains([]string{expected, unexpected, unavoidable, inapt}, r.Outcome)
}

// failed are the properties that a run breaks, by the lock's own fault or because no lock of its class keeps them.
func (r row) failed(own bool) []string {
	var names []string
	for _, f := range r.Judged {
		if !f.Met && f.Got == "fail" && f.Unavoidable == !own {
			names = append(names, f.Property)
		}
	}
	return names
}

// named are the causes that have a name and explain one of some properties.
func (r row) named(properties []string) []cause {
	var all []cause
	for _, c := range r.Causes {
		if c.Anomaly != "" && slices.ContainsFunc(c.Explains, func(p string) bool { return slices.Contains(properties, p) }) {
			all = append(all, c)
		}
	}
	return all
}

// shown are the anomalies that a run shows as the lock's own fault.
func (r row) shown() []cause {
	if r.Outcome != unexpected {
		return nil
	}
	return r.named(r.failed(true))
}

// wire is the last two of the commands that prove a cause.
func (c cause) wire() []string {
	commands := slices.SortedStableFunc(slices.Values(c.Commands), func(x, y command) int { return x.Exchange - y.Exchange })
	var lines []string
	for _, x := range commands[max(0, len(commands)-2):] {
		lines = append(lines, undrawn(x.Client+" → "+x.Node+": "+x.Command+"  "+x.Reply))
	}
	return lines
}

// told is the sentence of a cause, without what differs from run to run.
func (c cause) told() string {
	return undrawn(regexp.MustCompile(`\d+\.\d+ s`).ReplaceAllString(c.Sentence, "… s"))
}

// undrawn is a text without what was drawn for one run: words, and words in quotes, that are cut, instants in milliseconds, and numbers of processes.
func undrawn(text string) string {
	text = regexp.MustCompile(`\b\d{12,}\b`).ReplaceAllString(text, "…")
	text = regexp.MustCompile(`\bprocess \d+\b`).ReplaceAllString(text, "process …")
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*…"|[^\s"]*…`).ReplaceAllStringFunc(text, func(cut string) string {
		if cut[0] == '"' {
			return `"…"`
		}
		return "…"
	})
}
