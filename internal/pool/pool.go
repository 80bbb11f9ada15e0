package pool

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/locks"
)

// patience is for how long, in real time, a run may go on: a thousand times as long as it takes, since the machine may be busy.
const patience = 30 * time.Second

// Pool plays programs in processes. It is safe for concurrent use.
type Pool struct {
	command  func() *exec.Cmd
	idle     chan *player // nil: one that is not started
	launcher *osproc.Launcher
}

// New returns a pool of n processes, which are started when they are needed and call Serve. Close must be called.
func New(n int, command func() *exec.Cmd) *Pool {
	p := &Pool{command: command, idle: make(chan *player, n), launcher: osproc.NewLauncher()}
	for range n {
		p.idle <- nil
	}
	return p
}

// Play plays a program with a lock (explore.Player). The process of a run that fails, or does not end, is ended.
func (p *Pool) Play(ctx context.Context, program explore.Program, lock locks.Spec) (explore.Outcome, error) {
	by := <-p.idle
	defer func() { p.idle <- by }()
	if by == nil {
		var err error
		if by, err = p.start(); err != nil {
			return explore.Outcome{}, err
		}
	}
	a, err := by.ask(ctx, request{lock.Name, program})
	switch {
	case err != nil:
	case a.Unfit:
		return explore.Outcome{}, &harness.UnfitError{Why: errors.New(a.Err)}
	case a.Err != "":
		err = errors.New(a.Err)
	default:
		return a.Outcome, nil
	}
	by.end()
	by = nil
	return explore.Outcome{}, err
}

// Close ends the processes. Nothing may be played any more.
func (p *Pool) Close() {
	for range cap(p.idle) {
		if by := <-p.idle; by != nil {
			by.end()
		}
	}
	p.launcher.Stop()
}

// player is a process that plays.
type player struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	question *gob.Encoder
	answer   *gob.Decoder
	said     *tail
}

func (p *Pool) start() (*player, error) {
	cmd := p.command()
	by := &player{cmd: cmd, said: new(tail)}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	by.in, by.question, by.answer = in, gob.NewEncoder(in), gob.NewDecoder(out)
	cmd.Stderr = by.said
	if err := p.launcher.Start(cmd); err != nil {
		return nil, fmt.Errorf("a process that plays schedules cannot be started: %w", err)
	}
	return by, nil
}

// ask has a request answered. After an error the process is of no use.
func (by *player) ask(ctx context.Context, q request) (reply, error) {
	type result struct {
		reply
		err error
	}
	answered := make(chan result, 1)
	go func() {
		var r result
		r.err = errors.Join(by.question.Encode(q), by.answer.Decode(&r.reply))
		answered <- r
	}()
	late := fmt.Errorf("it did not end within %v, and its process was ended", patience)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, late)
	defer cancel()
	select {
	case r := <-answered:
		if r.err == nil {
			return r.reply, nil
		}
		by.end()
		return reply{}, fmt.Errorf("the process that played it ended: %s", by.said)
	case <-ctx.Done():
		by.end() // and with it the attempt to read its answer
		return reply{}, context.Cause(ctx)
	}
}

// end ends the process, if it has not ended.
func (by *player) end() {
	if by.cmd.ProcessState != nil {
		return
	}
	_ = osproc.KillGroup(by.cmd.Process.Pid) // it may be gone
	_ = by.in.Close()
	_ = by.cmd.Wait()
}

// tail keeps the end of what a process says.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const kept = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	t.kept = t.kept[max(0, len(t.kept)-kept):]
	return len(b), nil
}

// String is the first line of what is kept, which says what happened.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := bytes.Cut(bytes.TrimSpace(t.kept), []byte("\n"))
	if text := strings.TrimSpace(string(line)); text != "" {
		return text
	}
	return "it said nothing"
}
