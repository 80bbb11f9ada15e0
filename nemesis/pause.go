package nemesis

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// PauseF is a client that stands still.
const PauseF histories.F = "pause"

// Gate is where a client stands while it is paused. The zero Gate is open.
type Gate struct {
	mu     sync.Mutex
	closed chan struct{} // closed when the gate opens; nil while it is open
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
		waited = true
		select {
		case <-closed:
		case <-ctx.Done():
			return waited
		}
	}
}

// Pause stops a client as a long garbage collection does: nothing that it sends leaves,
// nothing reaches it, and its own code stands still at the next call or look at the
// clock. It is simulated: the process goes on, and its time-outs run.
func Pause(client string, gate *Gate, links []*wire.Link) Fault {
	return Fault{
		F: PauseF, Target: client, Plan: "client stands still (simulated)",
		Start: func(context.Context) (string, error) {
			gate.Close()
			for _, l := range links {
				l.Freeze()
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			for _, l := range links {
				l.Thaw()
			}
			gate.Open()
			return "client goes on", nil
		},
	}
}

func pauseKind() Kind {
	return Kind{
		Name: "pause", Title: "a client stands still (simulated)", F: PauseF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c := s.client(r)
			return Pause(c.Name, c.Gate, s.links(c.Name)), true
		},
	}
}
