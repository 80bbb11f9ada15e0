package process

import (
	"context"
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
		c.Doors = node.NewDoors(c.Links, loopback, nil, c.log.printf)
		return nil
	}
	var sentinels []string
	for i := range topo.Sentinels {
		name := cluster.SentinelName(i)
		sentinels = append(sentinels, name)
		c.Machines[name] = c.newServer(cluster.Node{Name: name}, filepath.Join(c.dir, name))
	}
	visitors := make(map[string]string)
	for i, name := range append(c.names(), sentinels...) {
		host := fmt.Sprintf("127.0.0.%d", i+2)
		visitors[host], c.Machines[name].host = name, host
	}
	c.Doors = node.NewDoors(c.Links, loopback, visitors, c.log.printf)
	var err error
	c.Elections, err = node.NewSentinels(ctx, sentinels, c.Members, c.Doors, c.Replication, c.Links, c.Locate, c.log.printf)
	if err != nil {
		return err
	}
	for _, name := range c.names() {
		s := c.Machines[name]
		s.arguments = func(port int) ([]string, error) {
			return append(append(c.prog.args(port, s.dir), c.prog.at(s.host)...), c.Elections.Announce(name)...), nil
		}
	}
	for _, name := range sentinels {
		s := c.Machines[name]
		s.arguments = func(port int) ([]string, error) {
			file := filepath.Join(s.dir, "sentinel.conf") // it is written again by its server
			args := append([]string{file, "--sentinel", "--port", strconv.Itoa(port)}, c.prog.at(s.host)...)
			return args, os.WriteFile(file, []byte(c.Elections.Config(name)), 0o600)
		}
	}
	return nil
}

// names are the names of the nodes, in their order.
func (c *Cluster) names() []string {
	var names []string
	for _, n := range c.Members {
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
	if c.Elections == nil {
		return nil
	}
	prog := c.prog
	prog.faketime = "" // only the clocks of nodes are set
	var all []string
	for _, addr := range c.Elections.Addresses() {
		name, _ := c.Elections.Announced(addr)
		all = append(all, name)
	}
	err := node.InParallel(ctx, all, func(ctx context.Context, name string) error {
		return c.Change(ctx, "start", name, func(ctx context.Context, s *server) error {
			return s.startAs(ctx, prog)
		})
	})
	if err != nil {
		return err
	}
	return c.Elections.Start(ctx)
}
