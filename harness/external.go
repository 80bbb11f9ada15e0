package harness

import (
	"fmt"

	"github.com/lockbench/lockbench/cluster/external"
	"github.com/lockbench/lockbench/locks"
)

// Servers are the user's own servers, for backend External.
type Servers = external.Servers

// ParseServers reads the addresses of the lock's masters, separated by commas, and of the
// register, which may be empty. User and password are those of addresses without any.
func ParseServers(masters, register, user, password string) (Servers, error) {
	return external.Parse(masters, register, external.Login{User: user, Password: password})
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
	return fmt.Errorf("%s, and backend external does nothing to servers that are not its own; use --backend %s, %s or %s",
		why, Embedded, Process, Docker)
}
