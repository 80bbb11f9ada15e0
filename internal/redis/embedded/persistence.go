package embedded

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

var _ cluster.PowerCutter = (*Cluster)(nil)

// aof stands for the append-only file of a node: not the commands, but what the file
// would give back. The zero value is none.
type aof struct {
	on     bool
	data   dataset  // what it holds since the node died
	synced *dataset // what it held at StopSyncing; nil: there was none
}

var errNoAOF = errors.New("it keeps no append-only file; Persist it first")

// SimulatedAOF says yes: miniredis has none.
func (c *Cluster) SimulatedAOF() bool { return true }

// Persist makes node keep its data until Restart. There is no disk whose speed fsync
// could matter to: every write is kept at once.
func (c *Cluster) Persist(_ context.Context, name string, _ cluster.Fsync) error {
	n, err := c.node(name)
	switch {
	case err != nil:
		return err
	case !n.isAlive():
		return fmt.Errorf("persist %s: %w", name, errDown)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.aof.on = true
	return nil
}

// Recover starts a killed node again with what it had at its death.
func (c *Cluster) Recover(_ context.Context, name string) ([]cluster.KeyState, error) {
	n, err := c.node(name)
	if err != nil {
		return nil, err
	}
	if err := n.recover(); err != nil {
		return nil, fmt.Errorf("recover %s: %w", name, err)
	}
	return n.inspect(n.server().Keys())
}

// StopSyncing keeps a copy of what node holds now.
func (c *Cluster) StopSyncing(_ context.Context, name string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	data, err := n.persisted()
	if err != nil {
		return fmt.Errorf("stop syncing %s: %w", name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.aof.synced = &data
	clear(n.unsynced)
	return nil
}

// LosePower kills node and leaves it what it had at StopSyncing.
func (c *Cluster) LosePower(_ context.Context, name string) (loss cluster.PowerLoss, err error) {
	n, err := c.node(name)
	if err != nil {
		return loss, err
	}
	data, err := n.persisted()
	if err != nil {
		return loss, fmt.Errorf("cut the power of %s: %w", name, err)
	}
	n.mu.Lock()
	synced := n.aof.synced
	n.mu.Unlock()
	if synced == nil {
		return loss, fmt.Errorf("cut the power of %s: nothing says what was synced; StopSyncing first", name)
	}
	if loss.Had, err = n.inspect(n.server().Keys()); err != nil {
		return loss, err
	}
	n.kill()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.aof.data, n.aof.synced = *synced, nil
	loss.Cut = fmt.Sprintf("the last writes to %d of its keys", changed(synced.keys, data.keys, n.clock.show(n.source.Now())))
	return loss, nil
}

// persisted is what a living node has in its append-only file.
func (n *node) persisted() (dataset, error) {
	n.tick()
	n.mu.Lock()
	m, on := n.redis, n.aof.on
	n.mu.Unlock()
	switch {
	case m == nil:
		return dataset{}, errDown
	case !on:
		return dataset{}, errNoAOF
	}
	return n.snapshot(m), nil
}

// flush brings the append-only file up to date, if there is one.
func (n *node) flush() {
	data, err := n.persisted()
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.aof.data = data
}

// restart starts a dead node with nothing in its append-only file.
func (n *node) restart() error {
	n.mu.Lock()
	n.aof = aof{on: n.aof.on}
	n.mu.Unlock()
	return n.start(dataset{})
}

// recover starts a dead node with its append-only file. Its replicas then get a copy.
func (n *node) recover() error {
	n.mu.Lock()
	file, alive := n.aof, n.redis != nil
	n.mu.Unlock()
	switch {
	case alive:
		return errors.New("it is running")
	case !file.on:
		return errNoAOF
	}
	if err := n.start(file.data); err != nil {
		return err
	}
	n.answered()
	return nil
}

// changed counts the keys that differ. A key that has expired by now counts as absent.
func changed(before, after map[string]entry, now time.Time) int {
	alive := func(d map[string]entry, key string) (entry, bool) {
		e, ok := d[key]
		return e, ok && !e.gone(now)
	}
	count := 0
	for key := range after {
		if b, ok := alive(before, key); !ok || !reflect.DeepEqual(b, after[key]) {
			count++
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			if _, ok := alive(before, key); ok {
				count++
			}
		}
	}
	return count
}
