package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
)

// Fleet is all worker processes of a run.
type Fleet struct {
	run      context.Context
	command  []string
	log      func(client string) (io.WriteCloser, error)
	launcher *osproc.Launcher
	grace    time.Duration
	need     []string // capabilities
	needed   string   // by whom

	mu      sync.Mutex
	clients []*Client
	broken  error
}

// NewFleet returns a Fleet whose workers run command, the program first. What they write to
// standard error goes to log, which may be nil. The end of ctx breaks calls off; Close must be called all the same.
func NewFleet(ctx context.Context, command []string, log func(client string) (io.WriteCloser, error)) (*Fleet, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("the worker's command is empty, want a program and its arguments")
	}
	if log == nil {
		log = func(string) (io.WriteCloser, error) { return nil, nil }
	}
	return &Fleet{run: ctx, command: command, log: log, launcher: osproc.NewLauncher(), grace: grace}, nil
}

// Require makes a run fail whose workers lack one of some capabilities, before they are told of
// the lock. by says who needs them. It must be called before Start.
func (f *Fleet) Require(by string, capabilities ...string) { f.need, f.needed = capabilities, by }

// Grant lets workers answer so much later than they promised, and no longer. It must be called
// before Start.
func (f *Fleet) Grant(grace time.Duration) { f.grace = grace }

// Err returns why the run cannot go on: a *BrokenError of the first worker that broke down, or nil.
func (f *Fleet) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

func (f *Fleet) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = err
	}
}

// Close ends all workers and waits for them.
func (f *Fleet) Close() error {
	f.mu.Lock()
	clients := f.clients
	f.mu.Unlock()
	errs := make([]error, len(clients))
	var ends sync.WaitGroup
	for i, c := range clients {
		ends.Go(func() { errs[i] = c.close() })
	}
	ends.Wait()
	f.launcher.Stop()
	return errors.Join(errs...)
}

// Start starts the worker of a client and returns once it is connected to all servers.
// setting is asked for each new process, which is the client's life-th from 0.
func (f *Fleet) Start(ctx context.Context, name string, setting func(life int) Setting) (*Client, error) {
	log, err := f.log(name)
	if err != nil {
		return nil, fmt.Errorf("log of worker %s: %w", name, err)
	}
	c := &Client{fleet: f, name: name, setting: setting, log: log}
	f.mu.Lock()
	f.clients = append(f.clients, c)
	f.mu.Unlock()
	return c, c.start(ctx)
}
