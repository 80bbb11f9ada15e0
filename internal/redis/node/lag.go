package node

import (
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// Lag delays the stream to replica on its way over Link(replica, master), and not what the
// replica says. 0 ends that.
func (r *Replication) Lag(replica string, by time.Duration) error {
	f, err := r.feed(replica)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.lags[replica]; old != nil {
		old.Stop()
		delete(r.lags, replica)
	}
	if by == 0 {
		return nil
	}
	// The replica is the client of this link, and the stream is what it is answered.
	delay, err := r.links.Link(f.replica, f.master).DelayOneWay(wire.Replies, wire.Latency{Base: by})
	if err == nil {
		r.lags[replica] = delay
	}
	return err
}
