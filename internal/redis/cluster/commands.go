package cluster

import "context"

// CommandTeller is a deployment of servers that need not know every command.
type CommandTeller interface {
	// Unknown returns those of commands that the server of node does not know.
	Unknown(ctx context.Context, node string, commands ...string) ([]string, error)
}
