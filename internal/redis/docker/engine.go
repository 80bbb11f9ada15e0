package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/moby/moby/client"
)

const (
	// callLimit bounds one request to the engine: one that hangs must not hang the run.
	callLimit = 60 * time.Second
	// pingLimit bounds the first word with the engine.
	pingLimit = 5 * time.Second
)

// MissingError says what this backend needs and does not find on this machine.
type MissingError struct {
	Want  string // such as "a Docker engine"
	Found string // what was found instead
	Run   string // the command that helps
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("backend docker needs %s, found %s. %s", e.Want, e.Found, e.Run)
}

// engine is a connection to the Docker engine.
type engine struct {
	cli *client.Client
}

// connect finds the engine of DOCKER_HOST or of the default socket.
func connect(ctx context.Context) (*engine, error) {
	cli, err := client.New(client.FromEnv)
	if err != nil {
		return nil, fmt.Errorf("read DOCKER_HOST and its companions: %w; for the engine of this machine: unset DOCKER_HOST", err)
	}
	e := &engine{cli: cli}
	asking, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	ping, err := cli.Ping(asking, client.PingOptions{NegotiateAPIVersion: true})
	switch {
	case err == nil && ping.OSType != "" && ping.OSType != "linux":
		err = &MissingError{Want: "an engine for Linux containers", Found: "one for " + ping.OSType,
			Run: "Switch it to Linux containers."}
	case err == nil:
		return e, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case strings.Contains(err.Error(), "permission denied"):
		err = &MissingError{Want: "access to the Docker engine", Found: "permission denied at " + cli.DaemonHost(),
			Run: "Run: sudo usermod -aG docker $USER, and log in again."}
	case asking.Err() != nil:
		err = &MissingError{Want: "a Docker engine", Found: fmt.Sprintf("one at %s that has not answered within %v",
			cli.DaemonHost(), pingLimit), Run: "Run: systemctl restart docker."}
	default:
		err = &MissingError{Want: "a Docker engine", Found: "none at " + cli.DaemonHost(),
			Run: "Debian/Ubuntu: apt-get install docker.io, then systemctl start docker."}
	}
	return nil, errors.Join(err, e.close())
}

func (e *engine) close() error { return e.cli.Close() }

// call gives f a context that ends after callLimit at the latest, and says what it was
// that took so long.
func call(ctx context.Context, what string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callLimit,
		fmt.Errorf("%s: the engine has not answered within %v", what, callLimit))
	defer cancel()
	return withCause(ctx, f(ctx))
}

// withCause adds why ctx ended to an error that came of it.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}
