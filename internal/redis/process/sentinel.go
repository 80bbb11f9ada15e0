package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// openDoors opens the doors of the nodes and gets the Sentinels of topo ready. With
// Sentinels every server has an address of its own in 127.0.0.0/8, by which a door tells
// who comes in. Linux has all of them without being asked; elsewhere the servers cannot bind.
func (c *Cluster) openDoors(ctx context.Context, topo cluster.Topology) error {
	if topo.Sentinels == 0 {
		c.doors = node.NewDoors(c.links, loopback, nil, c.log.printf)
		return nil
	}
	var sentinels []string
	for i := range topo.Sentinels {
		name := cluster.SentinelName(i)
		sentinels = append(sentinels, name)
		c.servers[name] = c.watched(newServer(cluster.Node{Name: name}, filepath.Join(c.dir, name)))
	}
	visitors := make(map[string]string)
	for i, name := range append(c.names(), sentinels...) {
		host := fmt.Sprintf("127.0.0.%d", i+2)
		visitors[host], c.servers[name].host = name, host
	}
	c.doors = node.NewDoors(c.links, loopback, visitors, c.log.printf)
	var err error
	c.sentinels, err = node.NewSentinels(ctx, sentinels, c.nodes, c.doors, c.repl, c.links, c.locate, c.log.printf)
	if err != nil {
		return err
	}
	for _, name := range c.names() {
		s := c.servers[name]
		s.arguments = func(port int) ([]string, error) {
			return append(append(c.prog.args(port, s.dir), c.prog.at(s.host)...), c.sentinels.Announce(name)...), nil
		}
	}
	for _, name := range sentinels {
		s := c.servers[name]
		s.arguments = func(port int) ([]string, error) {
			file := filepath.Join(s.dir, "sentinel.conf") // it is written again by its server
			args := append([]string{file, "--sentinel", "--port", strconv.Itoa(port)}, c.prog.at(s.host)...)
			return args, os.WriteFile(file, []byte(c.sentinels.Config(name)), 0o600)
		}
	}
	return nil
}

// names are the names of the nodes, in their order.
func (c *Cluster) names() []string {
	var names []string
	for _, n := range c.nodes {
		names = append(names, n.Name)
	}
	return names
}

// at are the options of a server that listens at host and connects from there.
func (p program) at(host string) []string {
	args := []string{"--bind", host}
	if p.atLeast(7, 0) { // older servers connect from where they listen
		args = append(args, "--bind-source-addr", host)
	}
	return args
}

// startSentinels starts the Sentinels, if there are any, and returns once they agree.
func (c *Cluster) startSentinels(ctx context.Context) error {
	if c.sentinels == nil {
		return nil
	}
	prog := c.prog
	prog.faketime = "" // only the clocks of nodes are set
	var all []string
	for _, addr := range c.sentinels.Addresses() {
		name, _ := c.sentinels.Announced(addr)
		all = append(all, name)
	}
	err := node.InParallel(ctx, all, func(ctx context.Context, name string) error {
		return c.change(ctx, "start", name, func(ctx context.Context, s *server) error {
			return s.start(ctx, prog, c.launcher, c.log)
		})
	})
	if err != nil {
		return err
	}
	return c.sentinels.Start(ctx)
}

// Sentinels are the addresses that the Sentinels announce; none if there are none.
func (c *Cluster) Sentinels() []string {
	if c.sentinels == nil {
		return nil
	}
	return c.sentinels.Addresses()
}

// Announced is the node that announces addr.
func (c *Cluster) Announced(addr string) (string, bool) {
	if c.sentinels == nil {
		return "", false
	}
	return c.sentinels.Announced(addr)
}

// Elected returns once the Sentinels have put another node than old in charge.
func (c *Cluster) Elected(ctx context.Context, old string) (cluster.Election, error) {
	if c.sentinels == nil {
		return cluster.Election{}, errors.New("want Sentinels in the topology, got none")
	}
	return c.sentinels.Elected(ctx, old)
}
