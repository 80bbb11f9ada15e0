package harness

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/cluster/external"
	"github.com/lockbench/lockbench/locks"
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

// OnServers is c on the user's own servers, or says why they are not the right number.
func (c Config) OnServers(s Servers) (Config, error) {
	c.Servers = s
	return c, s.Suit(c.topology())
}

// canServe says why a lock cannot be had on a backend, or nil.
func canServe(lock locks.Spec, backend string) error {
	if backend == External && lock.Replicas > 0 {
		return notExternal("lock " + lock.Name + " waits for a replica")
	}
	return nil
}

func notExternal(why string) error {
	return &UnfitError{fmt.Errorf("%s, and backend external does nothing to servers that are not its own; use --backend %s, %s or %s",
		why, Embedded, Process, Docker)}
}
