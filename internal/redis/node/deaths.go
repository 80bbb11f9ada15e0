package node

import (
	"sync"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// Deaths keeps the first death of a server that nobody of the run brought about. Its methods
// are safe for concurrent use.
type Deaths struct {
	died chan struct{}

	mu    sync.Mutex
	first *cluster.DeathError
}

// NewDeaths returns Deaths without any.
func NewDeaths() *Deaths { return &Deaths{died: make(chan struct{})} }

// Report keeps a death if it is the first.
func (d *Deaths) Report(e *cluster.DeathError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first == nil {
		d.first = e
		close(d.died)
	}
}

// Died is closed by the first Report.
func (d *Deaths) Died() <-chan struct{} { return d.died }

// First is the first death, a *cluster.DeathError, or nil.
func (d *Deaths) First() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first == nil {
		return nil
	}
	return d.first
}
