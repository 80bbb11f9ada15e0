package docker

import (
	"context"
	"strings"

	"github.com/testcontainers/testcontainers-go"

	"github.com/lockbench/lockbench/internal/redis/node"
)

// sentinelConf is where a Sentinel finds its configuration. It works on a copy in memory:
// after every vote it waits until that is written.
const sentinelConf = "/sentinel.conf"

// openDoors opens the doors of the nodes on the bridge, and gets the Sentinels ready that
// come after the nodes in names. With Sentinels a door tells who comes in by the address of
// the container.
func (c *Cluster) openDoors(ctx context.Context, gateway string, names []string) error {
	sentinels := names[len(c.Members):]
	if len(sentinels) == 0 {
		c.Doors = node.NewDoors(c.Links, gateway, nil, c.log.printf)
		return nil
	}
	visitors := make(map[string]string)
	for _, name := range names {
		visitors[c.Machines[name].ip.String()] = name
	}
	c.Doors = node.NewDoors(c.Links, gateway, visitors, c.log.printf)
	var err error
	c.Elections, err = node.NewSentinels(ctx, sentinels, c.Members, c.Doors, c.Replication, c.Links, c.Locate, c.log.printf)
	if err != nil {
		return err
	}
	for _, n := range c.Members {
		s := c.Machines[n.Name]
		s.command = append(s.command, c.Elections.Announce(n.Name)...)
	}
	for _, name := range sentinels {
		s := c.Machines[name]
		s.command = []string{"sh", "-c", "cp " + sentinelConf + " /data && exec redis-server /data" + sentinelConf +
			" --sentinel --port " + redisPort + " --bind 0.0.0.0"}
		s.tmpfs[dataDir] = "rw"
		s.files = []testcontainers.ContainerFile{{
			Reader: strings.NewReader(c.Elections.Config(name)), ContainerFilePath: sentinelConf, FileMode: 0o644,
		}}
	}
	return nil
}
