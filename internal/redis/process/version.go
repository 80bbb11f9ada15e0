package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
)

// MissingError says that there is no redis-server that this backend can use.
type MissingError struct {
	Path  string // the server asked for by path; empty: the one on PATH
	Found string // what is there, such as its version; empty: nothing
}

func (e *MissingError) Error() string {
	where, found := "on PATH", "none"
	if e.Path != "" {
		where = "at " + e.Path
	}
	if e.Found != "" {
		found = e.Found
	}
	return fmt.Sprintf("backend process needs redis-server 6.2 or newer %s, found %s."+
		" Debian/Ubuntu: apt-get install redis-server · macOS: brew install redis", where, found)
}

// program is an installed redis-server, or a relative of it that takes the same options.
type program struct {
	path         string
	product      string // its name and version, such as Valkey 8.1.1
	major, minor int
	faketime     string // path of the libfaketime to load into it; empty: none
}

// atLeast reports whether the server's version is major.minor or newer.
func (p program) atLeast(major, minor int) bool {
	return p.major > major || p.major == major && p.minor >= minor
}

// args are the options of a server that listens on loopback only, keeps nothing on
// disk (but see Persist), and feeds a new replica at once.
//
// The first snapshot for a replica goes through a file. Sent from memory, the stream
// behind it may not start before the replica's next periodic acknowledgement, up to
// a second later: the replica's first one can come before the master has noticed
// that its forked child is done, and is then ignored.
func (p program) args(port int, dir string) []string {
	args := []string{
		"--port", strconv.Itoa(port),
		"--bind", loopback,
		"--daemonize", "no",
		"--dir", dir,
		"--save", "",
		"--appendonly", "no",
		"--repl-diskless-sync", "no",
	}
	if p.atLeast(7, 0) { // older servers always allow DEBUG and refuse the option
		args = append(args, "--enable-debug-command", "local")
	}
	return args
}

// findProgram looks server up (empty: redis-server on PATH) and checks its version.
func findProgram(ctx context.Context, server string) (program, error) {
	missing := &MissingError{}
	if strings.ContainsAny(server, `/\`) {
		missing.Path = server
	}
	if server == "" {
		server = "redis-server"
	}
	path, err := exec.LookPath(server)
	if err != nil {
		missing.Found = unfit(missing.Path)
		return program{}, missing
	}
	if path, err = filepath.Abs(path); err != nil { // servers run in directories of their own
		return program{}, err
	}
	out, err := askVersion(ctx, path, versionLimit)
	if ctx.Err() != nil {
		return program{}, context.Cause(ctx)
	}
	if err != nil {
		return program{}, fmt.Errorf("%s --version: %w, output %q", path, err, out)
	}
	p, err := parseVersion(string(out))
	if err != nil {
		return program{}, fmt.Errorf("%s --version: %w", path, err)
	}
	if !p.atLeast(6, 2) {
		missing.Found = fmt.Sprintf("%d.%d", p.major, p.minor)
		return program{}, missing
	}
	p.path = path
	return p, nil
}

// versionLimit is how long a server may take to tell its version. It only ends what hangs.
const versionLimit = 20 * time.Second

// mostAnswer is how much of an answer is read, in bytes.
const mostAnswer = 1 << 16

// askVersion asks a program for its version, for no longer than limit. It answers into a file: a pipe
// would have to be read until everybody has closed it, and a child of the program may not.
func askVersion(ctx context.Context, path string, limit time.Duration) ([]byte, error) {
	answer, err := os.CreateTemp("", "lockbench-version-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Close() }()            // it was only read
	if err := os.Remove(answer.Name()); err != nil { // it is there as long as it is open
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Stdout, cmd.Stderr = answer, answer
	cmd.Cancel = func() error { return osproc.KillGroup(cmd.Process.Pid) } // path may be a script, which has started others
	launcher := osproc.NewLauncher()
	defer launcher.Stop()
	if err = launcher.Start(cmd); err == nil {
		err = cmd.Wait()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v; is it a redis-server?", limit)
	}
	out, unread := io.ReadAll(io.NewSectionReader(answer, 0, mostAnswer))
	return out, errors.Join(err, unread)
}

// unfit says what is at a path that is no program, or "" if nothing is there.
func unfit(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return "a directory"
	}
	return "a file that may not be executed"
}

// versionPattern matches what redis-server prints for --version, and valkey-server and keydb-server with their own names.
var versionPattern = regexp.MustCompile(`(\w+) server v=((\d+)\.(\d+)\S*)`)

func parseVersion(out string) (program, error) {
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return program{}, fmt.Errorf("want a line like %q, got %q. A server with other options than redis-server's"+
			" can be started by hand, and played on with --backend external --redis HOST:PORT", "Redis server v=7.0.15", shortened(out))
	}
	major, err := strconv.Atoi(m[3])
	if err != nil {
		return program{}, err
	}
	minor, err := strconv.Atoi(m[4])
	if err != nil {
		return program{}, err
	}
	return program{product: m[1] + " " + m[2], major: major, minor: minor}, nil
}

// shortened is the beginning of what a program says, which may be a whole page of help.
func shortened(out string) string {
	const most = 200
	if len(out) > most {
		return strings.ToValidUTF8(out[:most], "") + "…"
	}
	return out
}
