// Package osproc is control over processes of the operating system: it starts them so
// that none is left behind, stops them where they stand, lets them go on and kills
// them, and looks at whether that has happened.
package osproc

import (
	"context"
	"errors"
	"fmt"
	"time"

	psutil "github.com/shirou/gopsutil/v3/process"
)

// poll is how often a signal's effect is looked for.
const poll = time.Millisecond

// State is what a process is doing, in the letter of ps(1).
type State string

// The states that matter here.
const (
	Stopped State = "T"
	Zombie  State = "Z"
)

// letter is the state that psutil has a word for.
func letter(word string) State {
	switch word {
	case psutil.Stop:
		return Stopped
	case psutil.Zombie:
		return Zombie
	case psutil.Running:
		return "R"
	case psutil.Sleep:
		return "S"
	case psutil.Blocked:
		return "D"
	case psutil.Idle:
		return "I"
	}
	return State(word)
}

// Process is a handle of a running process. Methods are safe for concurrent use.
type Process struct {
	PID int
	ps  *psutil.Process
}

// Find returns the process of that id. Whoever calls it must know that the process has
// not been waited for, or its id may be somebody else's.
func Find(ctx context.Context, pid int) (*Process, error) {
	ps, err := psutil.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return &Process{PID: pid, ps: ps}, nil
}

// State looks at the process. One that there is no more is an error that wraps ErrEnded.
func (p *Process) State(ctx context.Context) (State, error) {
	words, err := p.ps.StatusWithContext(ctx)
	if err == nil && len(words) == 0 {
		err = errors.New("the system tells none")
	}
	if err != nil {
		return "", fmt.Errorf("state of process %d: %w", p.PID, ended(err))
	}
	return letter(words[0]), nil
}

// Suspend stops the process by SIGSTOP and returns once it is seen to stand still. Its
// connections stay open, and the kernel goes on taking what is sent to them.
func (p *Process) Suspend(ctx context.Context) error {
	if err := p.ps.SuspendWithContext(ctx); err != nil {
		return fmt.Errorf("stop process %d: %w", p.PID, err)
	}
	return p.until(ctx, "stand still", func(s State) bool { return s == Stopped })
}

// Resume lets a stopped process go on by SIGCONT and returns once it is seen to.
func (p *Process) Resume(ctx context.Context) error {
	if err := p.ps.ResumeWithContext(ctx); err != nil {
		return fmt.Errorf("continue process %d: %w", p.PID, err)
	}
	return p.until(ctx, "go on", func(s State) bool { return s != Stopped })
}

// Kill ends the process by SIGKILL and returns once it has ended, also if nobody has waited for it yet.
func (p *Process) Kill(ctx context.Context) error {
	err := ended(p.ps.KillWithContext(ctx))
	if err == nil {
		err = p.until(ctx, "end", func(State) bool { return false })
	}
	if err != nil && !errors.Is(err, ErrEnded) {
		return fmt.Errorf("kill process %d: %w", p.PID, err)
	}
	return nil
}

// until waits for a state: a signal is sent before it takes effect. A process that ends
// instead is an error that wraps ErrEnded, also if nobody has waited for it yet.
func (p *Process) until(ctx context.Context, what string, reached func(State) bool) error {
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		state, err := p.State(ctx)
		if err != nil {
			return err
		}
		switch {
		case state == Zombie:
			return fmt.Errorf("process %d does not %s: %w", p.PID, what, ErrEnded)
		case reached(state):
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d does not %s, it is in state %s: %w", p.PID, what, state, context.Cause(ctx))
		case <-pause.C:
		}
	}
}
