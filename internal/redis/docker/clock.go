package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// clockDir is a tmpfs of every container whose clock can be set, and clockFile is what
// libfaketime reads.
const (
	clockDir  = "/faketime"
	clockFile = clockDir + "/setting"
)

// underFaketime is a shell command that starts its arguments with libfaketime. Only they
// get the library: what is run in the container later does without it.
func underFaketime() string {
	line := fmt.Sprintf(`lib=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null) || {
	echo "the image has no libfaketime; see lockbench image --help"; exit 1; }
printf '%s' > %s
exec env`, node.FaketimeStart(), clockFile)
	for _, variable := range node.FaketimeEnv("$lib", clockFile) {
		line += ` "` + variable + `"`
	}
	return line + ` "$@"`
}

// Clocks says that clocks are set by libfaketime, or that the cluster was not asked to.
func (c *Cluster) Clocks() (how string, err error) {
	if c != nil && !c.clocks {
		return "", errors.New("its servers were started without libfaketime")
	}
	return "by libfaketime", nil
}

// SetClock sets the wall clock of node by libfaketime, from its next look at the clock on.
func (c *Cluster) SetClock(ctx context.Context, name string, offset time.Duration, rate float64) error {
	return c.Change(ctx, "set the clock of", name, func(ctx context.Context, s *server) error {
		if _, err := c.Clocks(); err != nil {
			return err
		}
		if err := cluster.CheckRate(rate); err != nil {
			return err
		}
		if s.current() == nil {
			return node.NotRunning(name)
		}
		if s.Paused() {
			return fmt.Errorf("node %s is paused, and nothing can be run in its container", name)
		}
		return c.writeClock(ctx, s, s.clock.Setting(time.Now(), offset, rate))
	})
}

// startClock learns when libfaketime began to count in a server that has just been started,
// and sets the clock right.
func (c *Cluster) startClock(ctx context.Context, s *server) (err error) {
	if !s.clocks {
		return nil
	}
	if s.clock, err = node.NewFaketime(ctx, s.addr()); err != nil {
		return err
	}
	return c.writeClock(ctx, s, s.clock.Setting(time.Now(), 0, 1))
}

// writeClock puts a setting where the server's library reads it, as a whole or not at all.
func (c *Cluster) writeClock(ctx context.Context, s *server, setting string) error {
	return call(ctx, "write the setting of libfaketime", func(ctx context.Context) error {
		made, err := c.engine.cli.ExecCreate(ctx, s.id(), client.ExecCreateOptions{
			Cmd:          []string{"sh", "-c", `printf '%s' "$1" >"$2.new" && mv "$2.new" "$2" && echo done`, "sh", setting, clockFile},
			AttachStdout: true, AttachStderr: true, TTY: true,
		})
		if err != nil {
			return err
		}
		attached, err := c.engine.cli.ExecAttach(ctx, made.ID, client.ExecAttachOptions{TTY: true})
		if err != nil {
			return err
		}
		defer attached.Close()
		defer context.AfterFunc(ctx, attached.Close)()
		said, err := io.ReadAll(attached.Reader)
		if err == nil && strings.TrimSpace(string(said)) != "done" {
			err = fmt.Errorf("the shell said %q", said)
		}
		return err
	})
}
