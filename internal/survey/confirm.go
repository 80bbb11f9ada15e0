package survey

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Confirmation is what a direct script, without lockbench, saw of a finding.
type Confirmation struct {
	Script string `json:"script"`           // its command, without the port of the server
	Saw    string `json:"saw"`              // the last line that it printed
	Failed string `json:"failed,omitempty"` // why it did not confirm the finding; empty: it did
}

// confirm runs the script of each finding, each on an empty server of its own.
func (s Survey) confirm(ctx context.Context, p Played) map[string]Confirmation {
	all := map[string]Confirmation{}
	once := map[string]Confirmation{}
	for about, script := range p.Confirm {
		c, ok := once[script]
		if !ok {
			for range 3 { // a machine that is busy keeps a script from showing anything, not from showing it
				if c = s.script(ctx, script); c.Failed == "" {
					break
				}
			}
			once[script] = c
		}
		all[about] = c
	}
	return all
}

// untimed runs the script that takes a library's lock without saying for how long.
func (s Survey) untimed(ctx context.Context, l Library) *Confirmation {
	if l.Untimed == "" {
		return nil
	}
	c := s.script(ctx, l.Untimed)
	if c.Failed != "" || c.Saw == "" || s.script(ctx, l.Untimed) != c { // nothing is told that was not seen twice
		return nil
	}
	return &c
}

func (s Survey) script(ctx context.Context, script string) Confirmation {
	c := Confirmation{Script: script}
	port, stop, err := s.serve(ctx)
	if err != nil {
		c.Failed = err.Error()
		return c
	}
	defer stop()
	out, err := s.run(ctx, append(strings.Fields(script), port))
	if err != nil {
		c.Failed = err.Error()
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	c.Saw = lines[len(lines)-1]
	return c
}

// serve starts an empty redis-server on a free port.
func (s Survey) serve(ctx context.Context) (port string, stop func(), err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	_, port, err = net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", filepath.Clean(dir))
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	if err := answers(ctx, address); err != nil {
		stop()
		return "", nil, err
	}
	return port, stop, nil
}

// answers waits until somebody listens.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var d net.Dialer
	for {
		if c, err := d.DialContext(ctx, "tcp", address); err == nil {
			return c.Close()
		}
		pause, end := context.WithTimeout(ctx, 50*time.Millisecond)
		<-pause.Done()
		end()
		if ctx.Err() != nil {
			return errors.New("redis-server does not answer")
		}
	}
}
