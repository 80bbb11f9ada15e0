package docker

import (
	"context"
	"errors"
	"strings"

	"github.com/testcontainers/testcontainers-go"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// sentinelConf is where a Sentinel finds its configuration. It works on a copy in memory:
// after every vote it waits until that is written.
const sentinelConf = "/sentinel.conf"

// errNoSentinels is the error of asking Sentinels that are not there.
var errNoSentinels = errors.New("want Sentinels in the topology, got none")

// openDoors opens the doors of the nodes on the bridge, and gets the Sentinels ready that
// come after the nodes in names. With Sentinels a door tells who comes in by the address of
// the container.
func (c *Cluster) openDoors(ctx context.Context, gateway string, names []string) error {
	sentinels := names[len(c.nodes):]
	if len(sentinels) == 0 {
		c.doors = node.NewDoors(c.links, gateway, nil, c.log.printf)
		return nil
	}
	visitors := make(map[string]string)
	for _, name := range names {
		visitors[c.servers[name].ip.String()] = name
	}
	c.doors = node.NewDoors(c.links, gateway, visitors, c.log.printf)
	var err error
	c.sentinels, err = node.NewSentinels(ctx, sentinels, c.nodes, c.doors, c.repl, c.links, c.locate, c.log.printf)
	if err != nil {
		return err
	}
	for _, n := range c.nodes {
		s := c.servers[n.Name]
		s.command = append(s.command, c.sentinels.Announce(n.Name)...)
	}
	for _, name := range sentinels {
		s := c.servers[name]
		s.command = []string{"sh", "-c", "cp " + sentinelConf + " /data && exec redis-server /data" + sentinelConf +
			" --sentinel --port " + redisPort + " --bind 0.0.0.0"}
		s.tmpfs[dataDir] = "rw"
		s.files = []testcontainers.ContainerFile{{
			Reader: strings.NewReader(c.sentinels.Config(name)), ContainerFilePath: sentinelConf, FileMode: 0o644,
		}}
	}
	return nil
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
		return cluster.Election{}, errNoSentinels
	}
	return c.sentinels.Elected(ctx, old)
}
