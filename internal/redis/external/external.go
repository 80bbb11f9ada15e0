// Package external is the user's own deployment. Nothing is started, and nothing is
// done to the servers: no server is killed, stopped, flushed, reconfigured or failed
// over, so that only the wire and the clients can fail.
//
// Every key of a run has a prefix of its own and is removed by Close. What a run cannot
// take back are the scripts that it leaves in the servers' script caches, and the library of
// functions that lock setnx-px-fcall loads.
package external

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

// removeLimit bounds the removal of a run's keys.
const removeLimit = 60 * time.Second

// Options of a deployment. The zero value works.
type Options struct {
	Roots *x509.CertPool // that sign the servers' certificates; nil: those of the system
	// Patience is how long each server may take to answer what it is asked before the run.
	// 0: 10 s.
	Patience time.Duration
	// State is the directory for a note of what the run would leave behind if it were killed;
	// see StateDir and Clean. Optional: there is none.
	State string
}

// Cluster is the user's deployment, as seen by one run. It implements cluster.Cluster
// and DeathWatcher, and none of its other capabilities.
type Cluster struct {
	roots    *x509.CertPool
	nodes    []cluster.Node
	at       map[string]address
	shared   bool // the register is on the first master
	prefix   string
	links    *node.Links
	began    map[string]string // the run_id of each node
	products []string          // the names and versions of the servers, each once
	deaths   *node.Deaths
	goodbyes sync.WaitGroup
	note     string // the file that tells Clean of the run's keys; empty: none
	unnoted  error  // why there is none
	close    func() error
}

var _ cluster.Cluster = (*Cluster)(nil)

// New connects to the servers of topo, and refuses those that a run cannot be had on.
// It writes nothing. ctx bounds New only.
func New(ctx context.Context, topo cluster.Topology, servers Servers, opt Options) (*Cluster, error) {
	if err := errors.Join(node.Check(topo), servers.Suit(topo)); err != nil {
		return nil, err
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	c := &Cluster{
		roots:  opt.Roots,
		nodes:  topo.Nodes(),
		at:     servers.locate(topo),
		shared: servers.register == nil,
		prefix: "lockbench:" + hex.EncodeToString(id) + ":",
		began:  make(map[string]string),
		deaths: node.NewDeaths(),
	}
	c.links = node.NewLinks(ctx, c.connect)
	c.close = sync.OnceValue(c.shutDown)
	silent := fmt.Errorf("no answer within %v", cmp.Or(opt.Patience, connectLimit))
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(opt.Patience, connectLimit), silent)
	defer cancel()
	var mu sync.Mutex // of began and products
	err := node.InParallel(ctx, c.nodes, func(ctx context.Context, n cluster.Node) error {
		err := c.admin(ctx, n.Name, func(ctx context.Context, conn *wire.Conn) error {
			if err := preflight(ctx, conn, c.prefix); err != nil {
				return fmt.Errorf("%s %w", c.at[n.Name], err)
			}
			id, err := runID(ctx, conn)
			if err != nil {
				return err
			}
			product, err := node.Product(ctx, conn)
			mu.Lock()
			defer mu.Unlock()
			c.began[n.Name] = id
			if product != "" && !slices.Contains(c.products, product) {
				c.products = append(c.products, product)
			}
			return err
		})
		if errors.Is(err, context.DeadlineExceeded) || err != nil && errors.Is(context.Cause(ctx), silent) {
			return fmt.Errorf("%s does not answer: %w; want a Redis server there", c.at[n.Name], silent)
		}
		return err
	})
	if err != nil {
		c.links.Close()
		return nil, fmt.Errorf("backend external: %w", err)
	}
	if opt.State != "" {
		c.note, c.unnoted = writeNote(opt.State, note{Prefix: c.prefix, Servers: c.addresses()})
	}
	c.links.Go(c.watch)
	return c, nil
}

// KeyPrefix begins every key of the run, or is inside it where a lock puts something
// before the key.
func (c *Cluster) KeyPrefix() string { return c.prefix }

// Product returns the names and versions of the servers, such as "Valkey 8.1.1"; empty if none tells.
func (c *Cluster) Product() string {
	return strings.Join(slices.Sorted(slices.Values(c.products)), ", ")
}

// pattern matches every key that is made from a key with that prefix. The prefix is
// random, so that nobody else's key has it.
func pattern(prefix string) string { return "*" + prefix + "*" }

// Notes is what a reader of the run should know.
func (c *Cluster) Notes() []string {
	var notes []string
	if c.shared {
		notes = append(notes, fmt.Sprintf("the register is on the lock's first server, %s: a lock's trouble there is the register's too (--register)", c.at[c.nodes[0].Name]))
	}
	if c.unnoted != nil {
		notes = append(notes, fmt.Sprintf("if the run is killed, lockbench clean does not know of its keys, *%s*: %v", c.prefix, c.unnoted))
	}
	return notes
}

// addresses are those of all nodes, each once.
func (c *Cluster) addresses() []string {
	var all []string
	for _, n := range c.nodes {
		if a := c.at[n.Name].String(); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// Nodes returns the masters and the register.
func (c *Cluster) Nodes() []cluster.Node { return slices.Clone(c.nodes) }

// Primary returns the master of shard, or "" if there is no such shard.
func (c *Cluster) Primary(shard int) string {
	if shard < 0 || shard >= len(c.nodes) || c.nodes[shard].Role != cluster.Master {
		return ""
	}
	return c.nodes[shard].Name
}

// Alive reports whether there is such a node. Nothing that a run does ends one.
func (c *Cluster) Alive(name string) bool {
	_, ok := c.at[name]
	return ok
}

// Dial connects client to node through Link(client, node). ctx bounds the dial only,
// not the life of the connection.
func (c *Cluster) Dial(ctx context.Context, client, name string) (net.Conn, error) {
	if !c.Alive(name) {
		return nil, node.Unknown(name, c.nodes)
	}
	return c.links.Dial(ctx, client, name)
}

// Link returns the interposer between client and node.
func (c *Cluster) Link(client, node string) *wire.Link { return c.links.Link(client, node) }

// connect opens a client's connection to a node, behind its link.
func (c *Cluster) connect(ctx context.Context, name string) (net.Conn, error) {
	a, ok := c.at[name]
	if !ok {
		return nil, node.Unknown(name, c.nodes)
	}
	conn, err := a.dial(ctx, c.roots)
	if err != nil {
		return nil, err
	}
	return &upstream{Conn: conn, goodbyes: &c.goodbyes}, nil
}

// admin calls f with a connection that crosses no link.
func (c *Cluster) admin(ctx context.Context, name string, f func(context.Context, *wire.Conn) error) error {
	a, ok := c.at[name]
	if !ok {
		return node.Unknown(name, c.nodes)
	}
	nc, err := a.dial(ctx, c.roots)
	if err != nil {
		return err
	}
	conn := wire.NewConn(nc)
	defer func() { _ = conn.Close() }()
	return f(ctx, conn)
}

// Inspect looks at all keys of a database at one instant, in a transaction on a connection of its own.
func (c *Cluster) Inspect(ctx context.Context, name string, database int, keys ...string) ([]cluster.KeyState, error) {
	ctx, cancel := c.links.Bound(ctx)
	defer cancel()
	var states []cluster.KeyState
	err := c.admin(ctx, name, func(ctx context.Context, conn *wire.Conn) (err error) {
		states, err = node.InspectStrings(ctx, conn, database, keys)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", name, err)
	}
	return states, nil
}

// Close closes all connections, waits until the servers have seen that, and removes the
// keys of the run. Later calls return what the first one did.
func (c *Cluster) Close() error { return c.close() }

func (c *Cluster) shutDown() error {
	c.links.Close()
	c.goodbyes.Wait()
	// The run's context may have been cancelled, and the keys must go all the same.
	ctx, cancel := context.WithTimeoutCause(context.Background(), removeLimit, fmt.Errorf("gave up after %v", removeLimit))
	defer cancel()
	errs := make([]error, len(c.nodes))
	var removals sync.WaitGroup
	for i, n := range c.nodes {
		if n.Role == cluster.Register && c.shared {
			continue
		}
		removals.Go(func() {
			err := c.admin(ctx, n.Name, func(ctx context.Context, conn *wire.Conn) error {
				_, err := remove(ctx, conn, pattern(c.prefix))
				return err
			})
			if err != nil {
				errs[i] = fmt.Errorf("keys of the run may be left on %s, remove those that match %s: %w", c.at[n.Name], pattern(c.prefix), err)
			}
		})
	}
	removals.Wait()
	err := errors.Join(errs...)
	if err == nil && c.note != "" {
		err = os.Remove(c.note)
	}
	return err
}
