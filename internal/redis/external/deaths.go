package external

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

var _ cluster.DeathWatcher = (*Cluster)(nil)

// lookEvery is the time between two looks at whether the servers are the same still.
const lookEvery = time.Second

// Died is closed once a server has been seen to be another than when the run began, or to
// listen no more.
func (c *Cluster) Died() <-chan struct{} { return c.deaths.Died() }

// Death asks every server which one it is, and returns the first that is not the one that the
// run began with, or that listens no more, or nil. What a server has printed is not known here.
func (c *Cluster) Death(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := c.same(ctx, n.Name); err != nil {
			return errors.Join(c.deaths.First(), err)
		}
	}
	return c.deaths.First()
}

// watch looks at the servers from time to time. A server that does not answer may do so again
// later: only at the end that is an error.
func (c *Cluster) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.deaths.Died():
			return
		case <-tick.C:
		}
		for _, n := range c.nodes {
			_ = c.same(ctx, n.Name)
		}
	}
}

// same reports the death of a server that is not the one that the run began with.
func (c *Cluster) same(ctx context.Context, name string) error {
	var now string
	err := c.admin(ctx, name, func(ctx context.Context, conn *wire.Conn) (err error) {
		now, err = runID(ctx, conn)
		return err
	})
	switch began := c.began[name]; {
	case errors.Is(err, syscall.ECONNREFUSED):
		c.died(name, "nobody listens at its address any more")
	case err != nil:
		return fmt.Errorf("ask %s whether it is the server that the run began with: %w", c.at[name], err)
	case now != began:
		c.died(name, fmt.Sprintf("another server answers at its address: run_id %s, and the run began with %s", now, began))
	}
	return nil
}

func (c *Cluster) died(name, how string) {
	c.deaths.Report(&cluster.DeathError{Node: name, How: fmt.Sprintf("%s: %s", c.at[name], how)})
}

// runID is what names one life of a server, or empty if it does not tell: some that speak the
// protocol are no Redis.
func runID(ctx context.Context, conn *wire.Conn) (string, error) {
	reply, err := node.Do(ctx, conn, "INFO", "server")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(reply.Text()) {
		if id, found := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); found {
			return id, nil
		}
	}
	return "", nil
}
