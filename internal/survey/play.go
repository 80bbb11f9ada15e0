package survey

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Survey plays libraries.
type Survey struct {
	Lockbench string        // the program
	Root      string        // of the repository, where commands are run
	Limit     time.Duration // for one library
	Jobs      int           // runs at a time, of a worker's
	Only      []string      // the pitfalls; none: Asked
	Log       io.Writer     // what is told on the way
}

// Played is what came of a library.
type Played struct {
	Library
	Installed string // its version
	Asked     int    // how many pitfalls it was put through
	Problem   string // why it could not be played; what follows is empty then
	First     []row
	Again     []row             // the pitfalls at which something was found, once more
	Schedules map[string]string // of these, by their numbers
	Confirmed map[string]Confirmation
	Default   *Confirmation // what Untimed printed; nil: there is no such script, or it failed
}

// All plays libraries, some at a time, and returns them in the same order. It ends early with ctx.
func (s Survey) All(ctx context.Context, libraries []Library, parallel int) []Played {
	all := make([]Played, len(libraries))
	room := make(chan struct{}, max(1, parallel))
	var busy sync.WaitGroup
	for i, l := range libraries {
		room <- struct{}{}
		busy.Go(func() {
			defer func() { <-room }()
			all[i] = s.Play(ctx, l)
		})
	}
	busy.Wait()
	return all
}

// Play plays a library once, and what was found once more. Whatever goes wrong with it is its Problem.
func (s Survey) Play(ctx context.Context, l Library) Played {
	p := Played{Library: l, Asked: len(s.asked())}
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	p.Installed, p.Problem = s.version(ctx, l)
	if p.Problem != "" {
		return p
	}
	if p.First, p.Problem = s.gate(ctx, l, s.asked()); p.Problem != "" {
		return p
	}
	s.askAgain(ctx, l, p.First)
	if broken := broken(p.First); len(broken) > 0 {
		if p.Again, p.Problem = s.gate(ctx, l, broken); p.Problem == "" {
			p.Schedules, p.Problem = s.schedules(ctx, broken)
		}
	}
	if p.Problem != "" {
		p.First = nil
		return p
	}
	p.Confirmed, p.Default = s.confirm(ctx, p), s.untimed(ctx, l)
	return p
}

// askAgain plays the pitfalls that came to no verdict once more, as a busy machine may keep a run from one. What comes of it takes
// the place of what was there, unless it cannot be played.
func (s Survey) askAgain(ctx context.Context, l Library, rows []row) {
	var ids []string
	for _, r := range rows {
		if r.open() && !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	again, _ := s.gate(ctx, l, ids)
	for i, r := range rows {
		n := slices.IndexFunc(again, func(a row) bool { return a.ID == r.ID && a.Scenario == r.Scenario })
		if r.open() && n >= 0 {
			rows[i] = again[n]
		}
	}
}

// schedules are those of pitfalls, as lockbench shows them.
func (s Survey) schedules(ctx context.Context, ids []string) (texts map[string]string, problem string) {
	texts = map[string]string{}
	for _, id := range ids {
		text, err := s.run(ctx, []string{s.Lockbench, "show", id})
		if err != nil {
			return nil, fmt.Sprintf("the schedule of %s is not to be had: %v", id, err)
		}
		texts[id] = text
	}
	return texts, ""
}

func (s Survey) asked() []string {
	if len(s.Only) > 0 {
		return s.Only
	}
	return Asked()
}

// broken are the pitfalls at which something broke.
func broken(rows []row) []string {
	var ids []string
	for _, r := range rows {
		if (r.Outcome == unexpected || r.Outcome == unavoidable) && !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func (s Survey) version(ctx context.Context, l Library) (version, problem string) {
	out, err := s.run(ctx, l.Version)
	if err != nil {
		return "", "it is not installed: " + err.Error()
	}
	version, _, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return version, ""
}

// gate plays pitfalls.
func (s Survey) gate(ctx context.Context, l Library, only []string) (rows []row, problem string) {
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		return nil, err.Error()
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "gate.json")
	fmt.Fprintln(s.Log, l.gate(only))
	_, err = s.run(ctx, append([]string{s.Lockbench}, l.arguments(only, file, s.Jobs)...))
	if ctx.Err() != nil {
		return nil, fmt.Sprintf("it was not through after %v", s.Limit)
	}
	res, unread := readResults(file)
	if unread != nil {
		return nil, fmt.Sprint("it could not be played: ", either(err, unread))
	}
	if reason := wholly(res.Rows); reason != "" {
		return nil, "no run came to its end: " + reason
	}
	return res.Rows, ""
}

func either(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// wholly is the reason of the first run, if no run came to its end.
func wholly(rows []row) string {
	if len(rows) == 0 {
		return "there was none"
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.Outcome != broke && r.Outcome != inapt }) {
		return ""
	}
	return brief(rows[0].Reason)
}

// run runs a command and returns what it writes to its standard output. An error has what it said on the other.
func (s Survey) run(ctx context.Context, command []string) (string, error) {
	var out, told bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Root, &out, &told
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // then lockbench ends its servers and workers
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if err != nil {
		err = errors.New(brief(cmp.Or(strings.TrimSpace(told.String()), err.Error())))
	}
	return out.String(), err
}

// brief is the last line that says something; one that begins with a semicolon only says where to look.
func brief(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool {
		return strings.TrimSpace(l) == "" || l[0] == ';'
	})
	if len(lines) == 0 {
		return strings.TrimSpace(text)
	}
	last := []rune(strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "lockbench: "))
	return string(last[:min(len(last), 200)])
}
