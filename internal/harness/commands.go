package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// knows returns an *UnfitError if a server of the lock does not know a command that the lock needs, or
// another error if that cannot be told. Servers in virtual time know what is needed.
func (c Config) knows(ctx context.Context, servers Opened) error {
	teller, ok := servers.Cluster.(cluster.CommandTeller)
	if !ok || len(c.Lock.Commands) == 0 {
		return nil
	}
	var names []string
	for _, command := range c.Lock.Commands {
		names = append(names, command.Name)
	}
	for _, n := range servers.Nodes() {
		if n.Role == cluster.Register {
			continue
		}
		unknown, err := teller.Unknown(ctx, n.Name, names...)
		if err != nil {
			return fmt.Errorf("lock %s needs %s, and whether there is one cannot be told: %w", c.Lock.Name, strings.Join(names, " and "), err)
		}
		for _, command := range c.Lock.Commands {
			if slices.Contains(unknown, command.Name) {
				return &UnfitError{fmt.Errorf("lock %s needs %s, and %s does not know it", c.Lock.Name, command, orServer(servers.Server))}
			}
		}
	}
	return nil
}

// orServer is the name and version of a server, if they are known.
func orServer(product string) string {
	if product == "" {
		return "the server"
	}
	return product
}
