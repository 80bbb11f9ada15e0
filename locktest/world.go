package locktest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

// World is what one client of the lock has around it: servers that it reaches through the network of
// the run, a clock that a fault may set wrong, and a name. A lock that is made from it sees nothing
// else of the run. Its methods may be called at any time until the run ends.
type World struct{ env locks.Env }

// addrSuffix makes addresses of masters that clients accept.
const addrSuffix = ".lockbench:6379"

// Addrs returns the addresses of the lock's masters, for Dial. They mean nothing to anybody else.
func (w World) Addrs() []string {
	addrs := make([]string, len(w.env.Nodes))
	for i := range addrs {
		addrs[i] = "master-" + strconv.Itoa(i+1) + addrSuffix
	}
	return addrs
}

// Dial connects to one of Addrs, through the network of the run. It has the type that clients of
// Redis take as their dialler. An address that is none of Addrs is an error.
func (w World) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	name, ok := strings.CutSuffix(addr, addrSuffix)
	number, numbered := strings.CutPrefix(name, "master-")
	n, err := strconv.Atoi(number)
	if !ok || !numbered || err != nil || n < 1 || n > len(w.env.Nodes) {
		return nil, fmt.Errorf("the lock dials %q, want one of %v: take the addresses from World.Addrs, and set Lock.Masters to how many there are", addr, w.Addrs())
	}
	return w.env.Dial(ctx, n-1)
}

// Options returns options of go-redis for a client of the lock's first master. They are the
// caller's to change.
//
// A call ends with the deadline of its context and not by a time-out of the client, nothing is sent
// a second time, and nothing goes on in the background. What a library sets for its users, such as
// MaxRetries, should be set here as well: it decides which faults the lock survives.
func (w World) Options() *redis.Options { return w.OptionsOf(0) }

// OptionsOf returns options as Options does, for the master of that number, from 0 on.
func (w World) OptionsOf(master int) *redis.Options {
	opt := locks.ClientOptions(func(ctx context.Context) (net.Conn, error) { return w.env.Dial(ctx, master) })
	opt.Addr = w.Addrs()[master]
	return opt
}

// Clients returns a client of go-redis for each master, as locks.NewClient makes them. They are
// closed when the run ends.
func (w World) Clients() []*redis.Client { return w.env.Nodes }

// Clock returns the client's clock. A lock that computes instants should read it: some scenarios
// set it wrong. In virtual time time.Now, time.Sleep and timers are virtual, too, and always right.
func (w World) Clock() locks.Clock { return w.env.Clock }

// Rand returns a source of random bytes for tokens, which the run's seed decides. One goroutine
// reads it at a time.
func (w World) Rand() io.Reader { return w.env.Rand }

// Name identifies the client, as a UUID identifies a process.
func (w World) Name() string { return w.env.Client }

// Env returns all of it as the locks of package locks take it.
func (w World) Env() locks.Env { return w.env }
