package harness

import (
	"context"

	"github.com/lockbench/lockbench/internal/redis/external"
)

// Servers are the user's own servers, for backend External.
type Servers = external.Servers

// CleanedServer is what became of the keys of a killed run on one of them.
type CleanedServer = external.Cleaned

// ParseServers reads the addresses of the lock's masters, separated by commas, and of the
// register, which may be empty. User and password are those of addresses without any.
func ParseServers(masters, register, user, password string) (Servers, error) {
	return external.Parse(masters, register, external.Login{User: user, Password: password})
}

// stateDir is where runs on the user's own servers write down what they may leave behind, or
// empty on a machine that has no place for it.
func stateDir() string {
	dir, err := external.StateDir()
	if err != nil {
		return ""
	}
	return dir
}

// CleanServers removes the keys that killed runs left on the user's own servers, as far as they
// wrote down which, and tells each of every server. User and password are those of all servers.
func CleanServers(ctx context.Context, user, password string, each func(CleanedServer)) error {
	dir, err := external.StateDir()
	if err != nil {
		return err
	}
	return external.Clean(ctx, dir, external.Login{User: user, Password: password}, each)
}
