package docker

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

// exec runs a command inside the container of s and returns its standard output. A
// command that fails is an error, with what it said. A paused container runs none.
func (c *Cluster) exec(ctx context.Context, s *server, command ...string) (string, error) {
	var out, said bytes.Buffer
	code := 0
	err := call(ctx, "run "+command[0]+" in the container", func(ctx context.Context) error {
		made, err := c.engine.cli.ExecCreate(ctx, s.id(), client.ExecCreateOptions{
			AttachStdout: true, AttachStderr: true, Cmd: command})
		if err != nil {
			return err
		}
		attached, err := c.engine.cli.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
		if err != nil {
			return err
		}
		defer attached.Close()
		defer context.AfterFunc(ctx, attached.Close)() // ends the copying
		if _, err := stdcopy.StdCopy(&out, &said, attached.Reader); err != nil {
			return err
		}
		for {
			ended, err := c.engine.cli.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
			if err != nil || !ended.Running {
				code = ended.ExitCode
				return err
			}
			select { // its output may end a moment before the engine knows how it ended
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(poll):
			}
		}
	})
	if err == nil && code != 0 {
		err = fmt.Errorf("%s in the container: exit code %d: %s", command[0], code, strings.TrimSpace(said.String()+out.String()))
	}
	return out.String(), err
}
