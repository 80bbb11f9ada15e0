package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/locks"
)

const (
	// grace is how much later than it promised a worker may answer. It is long, because a
	// machine may be busy, and a worker that never answers is what it is there for.
	grace = 20 * time.Second
	// farewell is how long a worker may take to end by itself.
	farewell = 2 * time.Second
)

// BrokenError says that a worker does not keep to the protocol, or that it has ended by
// itself: the harness cannot go on with it.
type BrokenError struct {
	Client string
	PID    int
	Why    error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("worker %s (process %d) %v; see docs/worker-protocol.md", e.Client, e.PID, e.Why)
}

// Unwrap returns Why.
func (e *BrokenError) Unwrap() error { return e.Why }

// SilentError says that a worker has not answered a call within its limit: its lock hangs. The
// harness has ended it.
type SilentError struct {
	Client string
	PID    int
	For    time.Duration
	Said   string // the last of what it wrote to its standard error, and where that is kept
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("worker %s (process %d) hangs: no answer after %v%s", e.Client, e.PID, e.For, e.Said)
}

// Silent says so of the call.
func (e *SilentError) Silent() string {
	return fmt.Sprintf("had no answer from worker process %d within %v%s", e.PID, e.For, strings.ReplaceAll(e.Said, "\n", " | "))
}

// errStranger is why a process cannot be stopped whose hello was not understood.
var errStranger = errors.New("the worker has not said which process is to be stopped")

// errKilled is the outcome of a call whose worker the harness has killed.
var errKilled = errors.New("the worker was killed")

// process is one worker process, from start to death.
type process struct {
	run    context.Context
	client string
	cmd    *exec.Cmd
	in     io.WriteCloser
	said   *tail         // the last of what it wrote to its standard error
	done   chan struct{} // closed when it is gone, and all it wrote is read
	broken func(error)   // told once, of a process that was not killed; calls nothing of the process
	grace  time.Duration

	subject  *osproc.Process // nil until its hello
	protocol int             // as its hello says, like can
	can      []string        // capabilities
	spec     locks.Spec      // of its lock, as its hello says

	mu      sync.Mutex
	calling map[int64]*sync.Mutex // one call at a time, by thread
	issued  int64
	waiting map[int64]*waiter
	lost    map[int64]chan struct{} // by the id of the acquire, from its request on
	why     error                   // why it is of no use any more
	killed  bool
	stopped bool
	resumed time.Time
}

// start starts a worker. The caller must end it.
func start(run context.Context, l *osproc.Launcher, client string, command []string, stderr io.Writer, grace time.Duration, broken func(error)) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	p := &process{
		run: run, client: client, cmd: cmd, said: &tail{w: stderr}, done: make(chan struct{}), broken: broken, grace: grace,
		calling: map[int64]*sync.Mutex{}, waiting: map[int64]*waiter{}, lost: map[int64]chan struct{}{},
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start worker %s: %w", client, err)
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = theirs, p.said, farewell
	if p.in, err = cmd.StdinPipe(); err == nil {
		err = l.Start(cmd)
	}
	_ = theirs.Close() // the child has its own
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start worker %s: %w", client, err), out.Close())
	}
	go p.wait(out)
	return p, nil
}

// wait reads what the process writes until it is gone.
func (p *process) wait(out *os.File) {
	defer close(p.done)
	read, exited := make(chan error, 1), make(chan struct{})
	go func() { read <- p.read(out, exited) }()
	exit := p.cmd.Wait()
	close(exited)
	// What it has written is in the pipe. A child of its own that outlives it writes nothing
	// that counts.
	_ = out.SetReadDeadline(time.Now().Add(farewell))
	err := <-read
	_ = out.Close()
	switch {
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		p.fail(err)
	case exit == nil:
		p.fail(fmt.Errorf("ended by itself in the middle of the run%s", p.said))
	default:
		p.fail(fmt.Errorf("ended by itself in the middle of the run (%w)%s", exit, p.said))
	}
}

// read takes answers and events until the output ends. Rubbish ends the process: nobody
// knows what its next line would mean. So does an output that ends before the process does.
func (p *process) read(out io.Reader, exited <-chan struct{}) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		a, err := parse(lines.Bytes())
		if err == nil {
			err = p.take(a)
		}
		if err != nil {
			return p.dismiss(fmt.Errorf("wrote the line %.300q: %w", lines.Text(), err))
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return p.dismiss(fmt.Errorf("wrote a line that is longer than %d bytes", maxLine))
	case err != nil:
		return err
	}
	select {
	case <-exited:
		return nil
	case <-time.After(2 * farewell): // by then one that ends has been waited for
		return p.dismiss(errors.New("closed its standard output in the middle of the run"))
	}
}

// dismiss ends a process that does not keep to the protocol.
func (p *process) dismiss(why error) error {
	p.fail(why)
	return errors.Join(why, osproc.KillGroup(p.cmd.Process.Pid))
}

// take hands a message to whoever it is for.
func (p *process) take(a Answer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Event == Lost {
		if a.Lease <= 0 || a.Lease > p.issued {
			return fmt.Errorf("there was no acquire %d whose lease could be lost", a.Lease)
		}
		if gone, ok := p.lost[a.Lease]; ok {
			close(gone)
			delete(p.lost, a.Lease) // once is enough
		}
		return nil
	}
	w, ok := p.waiting[a.ID]
	if !ok {
		return fmt.Errorf("request %d was not made, or is answered already", a.ID)
	}
	delete(p.waiting, a.ID)
	if a.gone = w.gone; a.Type != OK {
		delete(p.lost, a.ID)
	}
	w.answer <- a
	return nil
}

// fail makes the process of no use: every call ends with err, or with errKilled.
func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return
	}
	silent, hangs := errors.AsType[*SilentError](err)
	switch {
	case p.killed:
		p.why = errKilled
	case hangs:
		p.why = silent // that is said of the lock, and the harness can go on
	default:
		p.why = &BrokenError{Client: p.client, PID: p.cmd.Process.Pid, Why: err}
		p.broken(p.why) // before a call returns, whose caller may ask the fleet
	}
	for _, w := range p.waiting {
		close(w.answer)
	}
	clear(p.waiting)
}

// suspend stops the process and returns once it stands still.
func (p *process) suspend(ctx context.Context) (osproc.State, error) {
	if p.subject == nil {
		return "", errStranger
	}
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	if err := p.subject.Suspend(ctx); err != nil {
		return "", err
	}
	return p.subject.State(ctx)
}

// resume lets it go on.
func (p *process) resume(ctx context.Context) (osproc.State, error) {
	if p.subject == nil {
		return "", errStranger
	}
	if err := p.subject.Resume(ctx); err != nil {
		return "", err
	}
	p.mu.Lock()
	p.stopped, p.resumed = false, time.Now()
	p.mu.Unlock()
	return p.subject.State(ctx)
}

// kill ends the process and all of its group by SIGKILL, and returns once it is gone.
func (p *process) kill() error {
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	err := osproc.KillGroup(p.cmd.Process.Pid)
	if err == nil {
		<-p.done
	}
	return err
}

func (p *process) isKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// end lets the process end by itself, for it is told that nobody will ask for anything
// any more, and kills it if it does not.
func (p *process) end() error {
	p.mu.Lock()
	p.killed = true // its end is wanted
	stopped := p.stopped
	p.mu.Unlock()
	_ = p.in.Close() // an error means that it has ended
	if !stopped {
		timer := time.NewTimer(farewell)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
		}
	}
	return p.kill()
}
