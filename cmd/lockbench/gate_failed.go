package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

const (
	// lastGate is --failed without a file.
	lastGate = "last"
	// mostTold is how many runs are told that are played again.
	mostTold = 20
)

// storeFlags adds --failed to a command, and --out for the store in which it looks.
func (f *gateFlags) storeFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.store, "out", usualStore(os.Getenv), `directory of the store, in which results are kept for --failed, or "none"`)
	cmd.Flags().StringVar(&f.failed, "failed", "", "play only the runs that were not as expected the last time, with the seeds that they had; or those of `FILE`, which --json wrote (--failed=FILE)")
	cmd.Flags().Lookup("failed").NoOptDefVal = lastGate
}

// failedFile tells whoever writes --failed FILE that it has a =.
func (f *gateFlags) failedFile(cmd *cobra.Command, args []string) error {
	if f.failed == lastGate && len(args) == 1 {
		return usage(fmt.Errorf("%s --failed takes a file after an equals sign: --failed=%s", cmd.CommandPath(), quoted(args[0])))
	}
	return noArgs(cmd, args)
}

// kept is the file in the store with what is known of the gates of the same locks on the same servers.
func (f *gateFlags) kept() string {
	name := f.backend
	switch {
	case f.worker != "":
		name += "-worker"
	case f.lock != "":
		name += "-" + f.lock
	}
	about := strings.Join([]string{f.backend, f.servers.arguments(), f.redis, f.register, f.lock, f.guard, f.worker}, "\x00")
	sum := sha256.Sum256([]byte(about))
	return filepath.Join(gatesIn(f.store), name+"-"+hex.EncodeToString(sum[:4])+".json")
}

// again are the runs that --failed means. It keeps the gate that they were of.
func (f *gateFlags) again(opt gate.Options) (*gate.Again, error) {
	file := f.failed
	switch {
	case f.exploring != 0 || f.record != "":
		return nil, errors.New("--failed plays some runs again, and goes without --explore and --track-record")
	case file == lastGate && f.store == noStore:
		return nil, fmt.Errorf("--failed needs a store to find the last gate in, found --out %s; or a file: --failed=FILE", noStore)
	case file == lastGate:
		file = f.kept()
	}
	mine := gate.Results{Backend: opt.Backend.Name}
	if s := opt.Subject; s != nil {
		mine.Lock, mine.Worker = s.Lock.Name, s.Worker
	}
	before, err := gate.Read(file)
	switch {
	case gate.Missing(err) && f.failed == lastGate:
		return nil, fmt.Errorf("no gate of %s is kept in %s%s; play it once without --failed", subjectOf(mine), gatesIn(f.store), f.others())
	case err != nil:
		return nil, err
	case before.Backend != mine.Backend || before.Lock != mine.Lock || !slices.Equal(before.Worker, mine.Worker):
		return nil, fmt.Errorf("%s is of %s, and this gate of %s; want the same --backend, --lock and --worker", file, subjectOf(before), subjectOf(mine))
	}
	known, err := f.out.known()
	if err != nil {
		return nil, err
	}
	f.before = before
	return &gate.Again{File: file, Rows: before.Failed(known)}, nil
}

// subjectOf says whose gate results are of, and where it was played.
func subjectOf(r gate.Results) string {
	subject := "the catalogue"
	switch {
	case len(r.Worker) > 0:
		subject = "worker " + strings.Join(r.Worker, " ")
	case r.Lock != "":
		subject = "lock " + r.Lock
	}
	return subject + " on " + r.Backend
}

// others says of which gates the store has results.
func (f *gateFlags) others() string {
	files, _ := filepath.Glob(filepath.Join(gatesIn(f.store), "*.json")) // the pattern is one
	var all []string
	for _, file := range files {
		if r, err := gate.Read(file); err == nil && !slices.Contains(all, subjectOf(r)) {
			all = append(all, subjectOf(r))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ", which has those of " + strings.Join(all, ", ")
}

// tellAgain says which runs are played again, and why; and which are not part of this gate.
func (f *gateFlags) tellAgain(plan *gate.Plan, again *gate.Again, stderr io.Writer) {
	lost := plan.Lost()
	isLost := map[string]bool{}
	for _, r := range lost {
		isLost[r.String()] = true
	}
	list := func(rows []gate.Row) {
		for _, r := range rows[:min(len(rows), mostTold)] {
			fmt.Fprintln(stderr, report.Clean("  "+r.String()))
		}
		if more := len(rows) - mostTold; more > 0 {
			fmt.Fprintf(stderr, "  and %d more\n", more)
		}
	}
	fmt.Fprintf(stderr, "lockbench: of %s in %s these were not as expected and are played again:\n", words.Count(len(f.before.Rows), "run"), again.File)
	list(slices.DeleteFunc(slices.Clone(again.Rows), func(r gate.Row) bool { return isLost[r.String()] }))
	if len(lost) > 0 {
		fmt.Fprintln(stderr, "lockbench: these were not as expected, too, and are not part of this gate:")
		list(lost)
	}
}

// nothingFailed says so, writes the files that were asked for, and ends as the earlier gate did. What was not played is no pass.
func (f *gateFlags) nothingFailed(again *gate.Again, stdout io.Writer) error {
	known, err := f.out.known()
	if err != nil {
		return failure(err)
	}
	end := outcomeOf(f.before, known)
	text := fmt.Sprintf("Nothing to play again: none of %s in %s failed.", words.Count(len(f.before.Rows), "run"), again.File)
	switch left := f.before.Share - len(f.before.Rows); {
	case left > 0:
		text += fmt.Sprintf(" %s more of that gate were not played, and nothing is known of them.", words.Count(left, "run"))
		end = &exitError{code: exitUnknown}
	case end != nil:
		text += " It did not come out as expected for what --explore found, which lockbench run plays."
	}
	if f.out.format == formatJSON {
		err = f.out.print(f.before, known, stdout)
	} else {
		_, err = fmt.Fprintln(stdout, report.Clean(text))
	}
	if err == nil {
		_, err = f.out.write(f.before, known, false)
	}
	if err != nil {
		return failure(err)
	}
	return end
}

// keep keeps what is known of the gate after res, for --failed. A store that cannot be written costs no gate its result.
func (f *gateFlags) keep(res gate.Results, stderr io.Writer) {
	if f.store == noStore {
		return
	}
	before := f.before
	if f.failed == "" {
		before, _ = gate.Read(f.kept()) // what cannot be read is replaced
	}
	data, err := res.Over(before).Marshal()
	if err == nil {
		err = os.MkdirAll(gatesIn(f.store), 0o755)
	}
	if err == nil {
		err = gate.WriteFile(f.kept(), data)
	}
	if err != nil {
		fmt.Fprintln(stderr, report.Clean(fmt.Sprintf("lockbench: the results are not kept, and --failed does not know them: %v", err)))
	}
}
