package nemesis

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// PauseF is a client that stands still.
const PauseF histories.F = "pause"

// Gate is where a client stands while it is paused. The zero Gate is open.
type Gate struct {
	mu     sync.Mutex
	closed chan struct{} // closed when the gate opens; nil while it is open
	before int           // how many stand before it
}

// Closed reports whether Wait would wait, and how many do.
func (g *Gate) Closed() (closed bool, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed != nil, g.before
}

func (g *Gate) count(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.before += n
}

// Close makes Wait wait.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = make(chan struct{})
	}
}

// Open lets everybody go on.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

// Wait returns once the gate is open or ctx ends, and says whether it had to wait.
func (g *Gate) Wait(ctx context.Context) (waited bool) {
	for {
		g.mu.Lock()
		closed := g.closed
		g.mu.Unlock()
		if closed == nil {
			return waited
		}
		if !waited {
			waited = true
			g.count(1)
			defer g.count(-1)
		}
		select {
		case <-closed:
		case <-ctx.Done():
			return waited
		}
	}
}

// pause stops a client as a long garbage collection does. A client that has a process of
// its own is stopped by SIGSTOP: its code and its timers stand still, and what the kernel
// takes for it waits. Without one (nil) that is simulated: nothing that the client sends
// leaves, nothing reaches it, and its own code stands still at the next call or look at the
// clock, but its time-outs run.
func pause(client string, gate *Gate, links []*wire.Link, process Process) Fault {
	if process != nil {
		return suspend(client, process)
	}
	return Fault{
		F: PauseF, Target: client, Plan: "client stands still (simulated)", Simulated: true,
		Start: func(context.Context) (string, error) {
			gate.Close()
			for _, l := range links {
				l.Freeze()
			}
			return "", seeStanding(gate, links, true)
		},
		Stop: func(context.Context) (string, error) {
			if err := seeStanding(gate, links, true); err != nil {
				return "", err
			}
			_, calls := gate.Closed()
			conns := waiting(links)
			for _, l := range links {
				l.Thaw()
			}
			gate.Open()
			return fmt.Sprintf("client goes on; had stood still: %s, %s", words.Count(calls, "call"), words.Count(conns, "connection")), seeStanding(gate, links, false)
		},
	}
}

// seeStanding looks whether a client stands still, in its code and on its links, or in
// neither.
func seeStanding(gate *Gate, links []*wire.Link, want bool) error {
	if closed, _ := gate.Closed(); closed != want {
		return fmt.Errorf("the client's gate: want closed %v, found %v", want, closed)
	}
	return seeFrozen(links, want)
}

// suspend is a pause that is not simulated.
func suspend(client string, process Process) Fault {
	return Fault{
		F: PauseF, Target: client, Plan: "client stands still (SIGSTOP)",
		Start: func(ctx context.Context) (string, error) { return process.Suspend(ctx) },
		Stop: func(ctx context.Context) (string, error) {
			goes, err := process.Resume(ctx)
			if err != nil {
				return "", err
			}
			return "after SIGCONT " + goes, nil
		},
	}
}

func pauseKind() Kind {
	return Kind{
		Name: PauseName, Title: "a client stands still", F: PauseF, Client: true, Unsupported: anywhere,
		Means:  means("SIGSTOP of the client's process"),
		Hits:   HitsClient,
		Begins: "{client} stands still",
		Ends:   "{client} goes on",
		Make: onClient(func(s Scene, c Victim, t Target) Fault {
			links := s.links(c.Name)
			if t.Register {
				links = s.allLinks(c.Name)
			}
			return pause(c.Name, c.Gate, links, c.Process)
		}),
		Pick: pickClient,
	}
}

// means is the Means of a fault that hits a client's process where there is one.
func means(really string) func(cluster.Cluster) string {
	return func(c cluster.Cluster) string {
		if _, ok := c.(cluster.VirtualTime); ok {
			return "simulated"
		}
		return really
	}
}
