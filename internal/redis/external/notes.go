package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

// note is what a run writes down while its keys may be on somebody's servers: enough to remove
// them if it is killed. It has no user and no password.
type note struct {
	Owner   node.Owner `json:"owner"`
	Prefix  string     `json:"prefix"`
	Servers []string   `json:"servers"` // addresses, as Parse takes them
}

// StateDir returns the directory in which runs write down what they may leave behind:
// lockbench in $XDG_STATE_HOME, or in ~/.local/state. It is the user's own, so that nobody else
// can send Clean to a server.
func StateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "lockbench"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "lockbench"), err
}

// writeNote writes down a run's keys in dir and returns the file.
func writeNote(dir string, n note) (file string, err error) {
	if n.Owner, err = node.Self(); err != nil {
		return "", err
	}
	data, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "external-"+runOf(n.Prefix)+".json")
	return file, os.WriteFile(file, append(data, '\n'), 0o600)
}

// Cleaned is what became of the keys of a dead run on one server.
type Cleaned struct {
	Prefix, Server string
	Keys           int   // that were removed
	Err            error // why they may still be there
}

// Run is the id of the run.
func (c Cleaned) Run() string { return runOf(c.Prefix) }

// runOf is the id in a run's prefix.
func runOf(prefix string) string { return strings.Trim(strings.TrimPrefix(prefix, "lockbench"), ":") }

// Clean removes the keys that runs left on servers and could not remove because they were
// killed, as their notes in dir say, and tells each of every server. Runs that live are left
// alone. login is that of all servers: notes have none. A note goes once all its keys have.
func Clean(ctx context.Context, dir string, login Login, each func(Cleaned)) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "external-*.json"))
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		var n note
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &n)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // its run has just ended
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
		case !strings.HasPrefix(n.Prefix, "lockbench:") || len(n.Prefix) < len("lockbench:0123456789abcdef:"):
			errs = append(errs, fmt.Errorf("%s: prefix %q is not one of a run", file, n.Prefix))
		case n.Owner.Gone(host):
			errs = append(errs, n.clean(ctx, file, login, each))
		}
	}
	return errors.Join(errs...)
}

// clean removes the keys of one dead run.
func (n note) clean(ctx context.Context, file string, login Login, each func(Cleaned)) error {
	left := false
	for _, server := range n.Servers {
		c := Cleaned{Prefix: n.Prefix, Server: server}
		c.Keys, c.Err = removeFrom(ctx, server, login, pattern(n.Prefix))
		left = left || c.Err != nil
		each(c)
	}
	if left {
		return nil // it was told
	}
	return os.Remove(file)
}

func removeFrom(ctx context.Context, server string, login Login, pattern string) (int, error) {
	servers, err := Parse(server, "", login)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	nc, err := servers.masters[0].dial(ctx, nil)
	if err != nil {
		return 0, err
	}
	conn := wire.NewConn(nc)
	defer func() { _ = conn.Close() }()
	n, err := remove(ctx, conn, pattern)
	if err != nil {
		err = explained(err)
	}
	return n, err
}
