package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

// Load reads a run directory, or what a link such as latest points to. Files that a run which
// was killed or not judged does not have are left out: its verdict is then Unknown. Of a damaged
// file Load returns what is sound, and an error that names the damage.
func Load(dir string) (Run, error) {
	r := Run{Dir: dir}
	var damage [4]error
	r.Meta, r.Events, damage[0] = histories.Load(dir)
	if r.Meta.Schema == 0 {
		return r, damage[0] // not a run at all
	}
	r.Exchanges, damage[1] = lines(dir, histories.CommandsFile, histories.ReadExchanges)
	r.Samples, damage[2] = lines(dir, histories.SamplesFile, histories.ReadSamples)
	r.Judgement, damage[3] = judgement(filepath.Join(dir, histories.ResultsFile))
	return r, errors.Join(damage[:]...)
}

func lines[T any](dir, file string, read func(io.Reader, string) ([]T, error)) ([]T, error) {
	name := filepath.Join(dir, file)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	return read(f, name)
}

func judgement(name string) (checker.Judgement, error) {
	none := checker.Judgement{Schema: checker.JudgementSchema, Expected: []checker.Judged{}, Survivors: []string{}}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	var j checker.Judgement
	if err := json.Unmarshal(data, &j); err != nil {
		return none, fmt.Errorf("%s: %w; want the judgement of a run as lockbench writes it", name, err)
	}
	if j.Schema != checker.JudgementSchema {
		return none, fmt.Errorf(`%s: "schema" is %d, want %d: another version of lockbench wrote it`, name, j.Schema, checker.JudgementSchema)
	}
	return j, nil
}
