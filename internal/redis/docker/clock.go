package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// clockDir is a tmpfs of every container whose clock can be set, and clockFile is what
// libfaketime reads.
const (
	clockDir  = "/faketime"
	clockFile = clockDir + "/setting"
	// trialLimit bounds the trial of libfaketime: a server that hangs under it hangs for ever, and an engine that is busy may tell
	// its end many seconds late.
	trialLimit = 30 * time.Second
	// signalled is what the exit code of a container has more than the number of the signal that ended it.
	signalled = 128
)

// noLibrary is the exit code of underFaketime in an image without libfaketime. No shell and no server ends with it.
const noLibrary = 3

// underFaketime is a shell command that starts its arguments with libfaketime. Only they
// get the library: what is run in the container later does without it.
func underFaketime() string {
	line := fmt.Sprintf(`lib=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null) || exit %d
printf '%s' > %s
exec env`, noLibrary, node.FaketimeStart(), clockFile)
	for _, variable := range node.FaketimeEnv("$lib", clockFile) {
		line += ` "` + variable + `"`
	}
	return line + ` "$@"`
}

// tryFaketime starts a server of the image under libfaketime, as far as it can without a port, where it ends by itself. unfit says why
// servers of the image cannot run so: it has no libfaketime, or, as Redis 8.0 of Debian 13, they crash under it.
func (e *engine) tryFaketime(ctx context.Context, image string) (unfit, err error) {
	run := newID()
	labels, err := ownLabels(run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.remove(context.WithoutCancel(ctx), run)) }()
	var id string
	err = call(context.WithoutCancel(ctx), "run a container", func(ctx context.Context) error { // as in create
		ctr, err := testcontainers.Run(ctx, image,
			testcontainers.WithEntrypoint("sh"),
			testcontainers.WithCmd("-c", underFaketime(), "sh", "redis-server", "--port", "0", "--save", ""),
			testcontainers.WithName("lockbench-"+run+"-trial"),
			testcontainers.WithLabels(labels),
			testcontainers.WithTmpfs(map[string]string{clockDir: "rw"}),
			testcontainers.WithHostConfigModifier(func(h *container.HostConfig) { h.NetworkMode = "none" }))
		if err == nil {
			id = ctr.GetContainerID()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	trying, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	code, err := e.ended(trying, id)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case trying.Err() != nil:
		unfit, err = fmt.Errorf("a server of the image %s hangs under libfaketime, for %v", image, trialLimit), nil
	case err != nil:
	case code == noLibrary:
		unfit = fmt.Errorf("the image %s has no libfaketime; see lockbench image --help", image)
	case code > signalled:
		unfit = fmt.Errorf("a server of the image %s ends under libfaketime: %v", image, syscall.Signal(code-signalled))
	}
	return unfit, err
}

// Clocks says that clocks are set by libfaketime, or why they cannot be: the cluster was
// not asked to, or its image is not fit for it.
func (c *Cluster) Clocks() (how string, err error) {
	if c != nil && c.noClocks != nil {
		return "", c.noClocks
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
