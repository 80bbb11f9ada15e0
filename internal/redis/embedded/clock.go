package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// wallClock is the clock of a node. The zero value is right.
type wallClock struct {
	set   time.Time // when it was set; zero: never
	shown time.Time // what it showed then
	rate  float64   // how fast it runs since
}

// show is what the clock shows at the right time now.
func (c wallClock) show(now time.Time) time.Time {
	if c.set.IsZero() {
		return now
	}
	return c.shown.Add(time.Duration(float64(now.Sub(c.set)) * c.rate))
}

// Clocks says that clocks can be set.
func (c *Cluster) Clocks() (how string, err error) { return "", nil }

// SetClock sets the clock of node, and with it how long its keys live.
func (c *Cluster) SetClock(_ context.Context, name string, offset time.Duration, rate float64) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	if err := cluster.CheckRate(rate); err != nil {
		return err
	}
	if !n.isAlive() {
		return fmt.Errorf("set the clock of %s: %w", name, errDown)
	}
	n.setClock(offset, rate)
	return nil
}

// setClock sets the clock. Redis keeps the instant at which a key expires and miniredis
// the time that is left to it, and so with fields: where the clock goes back, they are given that much more.
func (n *node) setClock(offset time.Duration, rate float64) {
	n.tick() // until now the old clock counts
	m := n.server()
	if m == nil {
		return
	}
	keys := m.Keys()
	before := n.now()
	n.mu.Lock()
	now := n.source.Now()
	n.clock = wallClock{set: now, shown: now.Add(offset), rate: rate}
	n.mu.Unlock()
	n.tick()
	back := before.Sub(n.now())
	if back <= 0 {
		return
	}
	for _, k := range keys {
		if ttl := m.TTL(k); ttl > 0 {
			m.SetTTL(k, ttl+back)
		}
		fields, _ := fieldTTLs(m, k)
		for f, ttl := range fields {
			m.HExpire(k, f, ttl+back)
		}
	}
}
