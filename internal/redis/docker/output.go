package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// tailLines is how much of a server's output goes into an error message.
const tailLines = "20"

// saveLogs writes what every server has printed since New into <node>.log in dir.
func (c *Cluster) saveLogs(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, name := range c.names() {
		s := c.Machines[name]
		if s.id() == "" {
			continue
		}
		if err := c.saveLog(ctx, s, filepath.Join(dir, name+".log")); err != nil {
			errs = append(errs, fmt.Errorf("collect the log of %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// endAll ends all containers, and waits until the engine has noticed: it writes down what a server prints some time after that, and has
// written all when it says that the container does not run. What cannot be ended is removed later, and what its log lacks is lost.
func (c *Cluster) endAll(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range c.Machines {
		if s.id() == "" {
			continue
		}
		wg.Go(func() {
			err := call(ctx, "end a container", func(ctx context.Context) error {
				if _, err := c.engine.cli.ContainerKill(ctx, s.id(), client.ContainerKillOptions{Signal: "KILL"}); err != nil && !errdefs.IsConflict(err) {
					return err
				}
				_, err := c.engine.ended(ctx, s.id())
				return err
			})
			if err != nil {
				c.log.printf("the end of %s: %v", s.node.Name, err)
			}
		})
	}
	wg.Wait()
}

// ended waits until a container does not run, and returns its exit code.
func (e *engine) ended(ctx context.Context, id string) (code int, err error) {
	wait := e.cli.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case end := <-wait.Result:
		return int(end.StatusCode), nil
	case err := <-wait.Error:
		return 0, err
	}
}

func (c *Cluster) saveLog(ctx context.Context, s *server, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(c.copyOutput(ctx, s, f, "all"), f.Close())
}

// lastOutput is the end of what a server has printed, for an error message.
func (c *Cluster) lastOutput(ctx context.Context, s *server) string {
	var b bytes.Buffer
	if err := c.copyOutput(ctx, s, &b, tailLines); err != nil {
		fmt.Fprintf(&b, "(cannot be read: %v)", err)
	}
	return strings.TrimSpace(b.String())
}

// copyOutput copies the last lines that a server has printed, or "all".
func (c *Cluster) copyOutput(ctx context.Context, s *server, w io.Writer, lines string) error {
	return call(ctx, "read the output of a container", func(ctx context.Context) error {
		logs, err := c.engine.cli.ContainerLogs(ctx, s.id(), client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: lines})
		if err != nil {
			return err
		}
		_, err = stdcopy.StdCopy(w, w, logs)
		return errors.Join(err, logs.Close())
	})
}

// lineLog writes whole lines to a writer that several goroutines share. A nil writer
// takes nothing.
type lineLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineLog) printf(format string, args ...any) {
	if l.w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written must not disturb the run.
	_, _ = fmt.Fprintf(l.w, format+"\n", args...)
}
