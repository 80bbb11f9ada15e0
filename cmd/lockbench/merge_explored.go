package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
)

// explored reports whether a file is the record of an exploration, as far as it can be read: one that is cut off has its first fields.
func explored(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // it was read
	const first = 3                     // fields, of which the second is the lock
	d := json.NewDecoder(file)
	for range 1 + 2*first { // the brace, and each field with its value
		if token, err := d.Token(); err != nil || token == json.Delim('[') {
			return false
		} else if token == "explored" {
			return true
		}
	}
	return false
}

// mergeExplored joins the records of the shards of an exploration, and ends as the whole would have ended.
func mergeExplored(files []string, out outputs, stdout io.Writer) error {
	if out.pages.markdown != "" || out.baseline != "" {
		return usage(fmt.Errorf("--markdown and --baseline are about gates, and %s is of an exploration: want --json and --junit", files[0]))
	}
	records, programs, schedules, err := readParts(files)
	if err != nil {
		return usage(err)
	}
	r, err := explore.Merge(records, programs)
	if err != nil {
		return usage(err)
	}
	found, err := r.FindingsOf(programs)
	if err != nil {
		return usage(err)
	}
	places := explore.Places(found)
	if out.format == formatJSON {
		for _, place := range places {
			r.Tell(place, schedules[where(place)], "")
		}
		if err := printJSON(stdout, r); err != nil {
			return err
		}
		stdout = io.Discard
	}
	tellHead(r, unlessTerse(stdout))
	for _, place := range places {
		told := told{Finding: place, text: schedules[where(place)]}
		r.Tell(place, told.text, "")
		told.head(stdout)
		told.steps(stdout)
	}
	if err := writeRecord(r, out.json, out.pages.junit); err != nil {
		return failure(err)
	}
	return conclude(r, len(places), stdout)
}

// readParts reads the records of shards, with the programs of their lock, and the schedules that were found, by where they are.
func readParts(files []string) (records []explore.Record, programs []explore.Program, schedules map[string]string, err error) {
	schedules = map[string]string{}
	for _, name := range files {
		r, err := readRecord(name)
		if err != nil {
			return nil, nil, nil, err
		}
		records = append(records, r)
	}
	lock, err := libraries.Catalogue().Find(records[0].Explored)
	if err != nil {
		return nil, nil, nil, err
	}
	guard, err := resource.FindGuard(records[0].Guard)
	if err != nil {
		return nil, nil, nil, err
	}
	if programs, err = explore.Programs(lock, guard); err != nil {
		return nil, nil, nil, err
	}
	for i, r := range records {
		found, err := r.FindingsOf(programs)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", files[i], err)
		}
		for i, f := range found {
			schedules[where(f)] = r.Findings[i].Schedule
		}
	}
	return records, programs, schedules, nil
}

// where tells schedules apart.
func where(f explore.Finding) string { return fmt.Sprint(f.Program.Name, f.Rank, f.Title()) }
