// Package survey plays real libraries through the gate, one after the other, and writes what each shows: a table of libraries and named
// anomalies in which every cell comes from runs.
package survey

import (
	"strconv"
	"strings"
)

// Library is one variant of a library: with a client, and with options.
type Library struct {
	Name     string // unique
	Language string
	Packages []string // of Debian, that have it, or that its scripts need; of Go the module of this project requires it
	Version  []string // the command that prints its version
	Worker   string   // the command of its worker; empty: Lock is played in virtual time
	Lock     string   // the lock of the catalogue that is the library
	Promises string   // what it promises, in a sentence
	Safely   string   // how to use it safely, in two
	// Declared is what the library documents, by the code of the anomaly or the number of the pitfall that would otherwise be
	// held against it. It is told, and accuses nobody.
	Declared map[string]string
	// Confirm are scripts under examples/confirm, without lockbench, by the code or number that they confirm.
	Confirm map[string]string
	// Untimed is a script there that takes the lock without saying for how long, and prints which key it has, with what end. Empty:
	// the library takes no call without.
	Untimed string
	// Upstream are threads of the library's own project about the same, by the code or number.
	Upstream map[string]string
}

// gate is the command that puts the library through pitfalls, as people type it.
func (l Library) gate(only []string) string {
	if l.Worker == "" {
		return "lockbench gate --lock " + l.Lock + " --only " + strings.Join(only, ",")
	}
	return "lockbench gate --worker '" + l.Worker + "' --only " + strings.Join(only, ",")
}

// arguments are those of lockbench for the same.
func (l Library) arguments(only []string, file string, jobs int) []string {
	args := []string{"gate", "--only", strings.Join(only, ","), "--json", file}
	if l.Worker == "" {
		return append(args, "--lock", l.Lock)
	}
	return append(args, "--worker", l.Worker, "--jobs", strconv.Itoa(jobs))
}

// Asked are the pitfalls that each library is put through: those by which a lock of its own fault, or a class, shows an anomaly, and some
// whose findings have no name.
func Asked() []string {
	return []string{
		"P01", "P02", "P07", "P08", "P10", "P11", "P19", "P23", "P24", "P25", "P26", "P27", "P28", "P34", "P37", "P38", "P47", "P48", "P52",
		"P55", "P56", "P57", "P62", "P67", "P68", "P69", "P70", "P71", "P72", "P75", "P79", "P80", "P81", "P83", "P84", "P85", "P86", "P87",
		"P90", "P92", "P95", "P96", "P97", "P99", "P100", "P101",
	}
}
