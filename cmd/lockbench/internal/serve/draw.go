package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/words"
)

// mostDrawn bounds the page that is drawn of a run.
const mostDrawn = 16 << 20

// An artist draws one run at a time, which bounds memory, and keeps the last page: many who
// ask for the same run get one drawing.
type artist struct {
	draw func(io.Writer, report.Run) error
	turn turns
	last *drawing
}

// A drawing is a page, and the files that it was drawn of.
type drawing struct {
	id    runID
	files []fs.FileInfo // nil for one that was not there
	page  []byte
}

func newArtist(draw func(io.Writer, report.Run) error) artist {
	return artist{draw: draw, turn: newTurns(1), last: &drawing{}}
}

// drawing returns the page of a run. It waits until it is its turn.
func (a *artist) drawing(ctx context.Context, dir *os.Root, id runID) ([]byte, error) {
	done, err := a.turn.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if a.last.id == id && a.last.current(dir) {
		return a.last.page, nil
	}
	d := &drawing{id: id}
	for _, name := range drawnOf() {
		info, err := dir.Stat(name)
		if err != nil {
			info = nil
		}
		d.files = append(d.files, info)
	}
	run, err := load(dir, id)
	if err != nil {
		return nil, err
	}
	page := bounded{most: mostDrawn}
	if err := a.draw(&page, run); err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, "%s cannot be drawn: %s.", id, clean(err.Error(), longestName))
	}
	d.page = page.b.Bytes()
	*a.last = *d
	return d.page, nil
}

func drawnOf() []string {
	return []string{histories.RunFile, histories.EventsFile, histories.ResultsFile, histories.CommandsFile, histories.SamplesFile}
}

func (d *drawing) current(dir *os.Root) bool {
	for i, name := range drawnOf() {
		if !same(dir, name, d.files[i]) {
			return false
		}
	}
	return true
}

type bounded struct {
	b    bytes.Buffer
	most int
}

func (w *bounded) Write(p []byte) (int, error) {
	if w.b.Len()+len(p) > w.most {
		return 0, fmt.Errorf("its page is larger than %s", words.Bytes(int64(w.most)))
	}
	return w.b.Write(p)
}

// load reads a run to be drawn. What a history that is damaged lacks is told in its notes.
// A file that is too large to be held in memory is an error.
func load(dir *os.Root, id runID) (report.Run, error) {
	r := report.Run{Dir: id.String()}
	refused := func(err error) (report.Run, error) {
		return r, refuse(http.StatusUnprocessableEntity, "%s cannot be drawn: %s.", id, clean(err.Error(), longestName))
	}
	var err error
	if r.Meta, _, err = readMeta(dir); err != nil {
		return refused(err)
	}
	var damage [4]error
	if r.Events, damage[0] = lines(dir, histories.EventsFile, histories.ReadJSONL); r.Events == nil && damage[0] != nil {
		return refused(damage[0])
	}
	r.Exchanges, damage[1] = lines(dir, histories.CommandsFile, histories.ReadExchanges)
	r.Samples, damage[2] = lines(dir, histories.SamplesFile, histories.ReadSamples)
	r.Judgement, _, damage[3] = readJudgement(dir)
	for _, err := range damage {
		if err != nil {
			r.Notes = append(r.Notes, "damaged: "+err.Error())
		}
	}
	return r, nil
}

func lines[T any](dir *os.Root, name string, read func(io.Reader, string) ([]T, error)) ([]T, error) {
	f, info, err := openFile(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	if info.Size() > mostLines {
		return nil, tooLarge(name, info.Size(), mostLines)
	}
	return read(io.LimitReader(f, info.Size()), name) // it may grow meanwhile
}
