package node

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// AOF is the append-only file of one server. The zero value is none. It is not safe for
// concurrent use.
type AOF struct {
	fsync  cluster.Fsync
	part   string // the file that grows, by Mark
	synced int64  // its length by Mark
}

// Files are the files of one server. Paths are relative to its directory.
type Files interface {
	Read(ctx context.Context, path string) ([]byte, error)
	Size(ctx context.Context, path string) (int64, error)
	Truncate(ctx context.Context, path string, size int64) error
}

// Persist switches the append-only file of the server at addr on, and returns once it
// holds everything. It is never rewritten later, so that it only grows.
func (a *AOF) Persist(ctx context.Context, addr string, fsync cluster.Fsync) error {
	err := Admin(ctx, addr, func(conn *wire.Conn) error {
		for _, s := range []struct{ name, value string }{
			{"auto-aof-rewrite-percentage", "0"}, {"appendfsync", string(fsync)}, {"appendonly", "yes"},
		} {
			if _, err := Do(ctx, conn, "CONFIG", "SET", s.name, s.value); err != nil {
				return err
			}
		}
		return rewritten(ctx, conn)
	})
	if err == nil {
		a.fsync = fsync
	}
	return err
}

// PersistAs is Persist as another server's file was kept, if it was.
func (a *AOF) PersistAs(ctx context.Context, addr string, other AOF) error {
	if other.fsync == "" {
		return nil
	}
	return a.Persist(ctx, addr, other.fsync)
}

// Anew is the file of a server that begins again, with an empty one if it kept one.
func (a *AOF) Anew() AOF { return AOF{fsync: a.fsync} }

// Kept says, by nil, that there is a file.
func (a *AOF) Kept() error {
	if a.fsync == "" {
		return errors.New("it keeps no append-only file; Persist it first")
	}
	return nil
}

// Options are what a server is started with to find its append-only file: none if there
// is none.
func (a *AOF) Options() []string {
	if a.fsync == "" {
		return nil
	}
	return []string{"--appendonly", "yes", "--appendfsync", string(a.fsync), "--auto-aof-rewrite-percentage", "0"}
}

// Mark makes the server at addr sync its file no more, and remembers how long that is. Since Redis 7.0 it
// has parts.
func (a *AOF) Mark(ctx context.Context, addr string, files Files, parts bool) error {
	if err := a.Kept(); err != nil {
		return err
	}
	if _, err := Command(ctx, addr, "CONFIG", "SET", "appendfsync", "no"); err != nil {
		return err
	}
	part := "appendonly.aof"
	if parts {
		manifest, err := files.Read(ctx, path.Join(aofDir, "appendonly.aof.manifest"))
		if err != nil {
			return err
		}
		if part, err = growing(string(manifest)); err != nil {
			return err
		}
	}
	size, err := files.Size(ctx, part)
	if err == nil {
		a.part, a.synced = part, size
	}
	return err
}

// Marked says, by nil, that CutBack knows where to cut.
func (a *AOF) Marked() error {
	if a.part == "" {
		return errors.New("nothing says where its append-only file is to be cut; StopSyncing first")
	}
	return nil
}

// CutBack cuts the file of a dead server back to the last Mark, which it forgets, and
// says, for people, how much that was.
func (a *AOF) CutBack(ctx context.Context, files Files) (string, error) {
	if err := a.Marked(); err != nil {
		return "", err
	}
	part := a.part
	a.part = ""
	size, err := files.Size(ctx, part)
	if err != nil {
		return "", err
	}
	cut, err := difference(size, a.synced)
	if err != nil {
		return "", err
	}
	return cut, files.Truncate(ctx, part, a.synced)
}

// rewritten returns once the rewrite that begins an append-only file is done. Until then
// the file of the server is not in use.
func rewritten(ctx context.Context, conn *wire.Conn) error {
	pause := time.NewTicker(poll)
	defer pause.Stop()
	for {
		reply, err := Do(ctx, conn, "INFO", "persistence")
		if err != nil {
			return err
		}
		busy := false
		for line := range strings.Lines(reply.Text()) {
			switch name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name {
			case "aof_rewrite_in_progress", "aof_rewrite_scheduled":
				busy = busy || value != "0"
			case "aof_enabled":
				if value != "1" {
					return errors.New("CONFIG SET appendonly yes did not switch the append-only file on")
				}
			case "aof_last_bgrewrite_status", "aof_last_write_status":
				if value != "ok" {
					return fmt.Errorf("the append-only file cannot be written: %s is %s", name, value)
				}
			}
		}
		if !busy {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pause.C:
		}
	}
}

// aofDir is where the parts are, in the directory of the server.
const aofDir = "appendonlydir"

// growing reads a manifest and returns the part that is written to.
func growing(manifest string) (part string, err error) {
	for line := range strings.Lines(manifest) { // such as: file appendonly.aof.1.incr.aof seq 1 type i
		fields := strings.Fields(line)
		if len(fields) >= 6 && fields[0] == "file" && fields[4] == "type" && fields[5] == "i" {
			part = path.Join(aofDir, fields[1]) // of several the last
		}
	}
	if part == "" {
		return "", fmt.Errorf("want a manifest that names an incremental file, got %q", manifest)
	}
	return part, nil
}

// difference says how much longer a file is than it was before. It only grows.
func difference(now, before int64) (string, error) {
	switch {
	case now < before:
		return "", fmt.Errorf("want an append-only file of %d bytes or more, as before, got %d", before, now)
	case now-before == 1:
		return "1 byte of its AOF", nil
	}
	return strconv.FormatInt(now-before, 10) + " bytes of its AOF", nil
}

// lastLook is how long writes wait while Final looks. The server is killed long before.
const lastLook = 30 * time.Second

// Final looks at every key of a server that is about to be killed. From then on nothing
// is written any more.
func Final(ctx context.Context, addr string) ([]cluster.KeyState, error) {
	var states []cluster.KeyState
	err := Admin(ctx, addr, func(conn *wire.Conn) (err error) {
		if _, err = Do(ctx, conn, "CLIENT", "PAUSE", strconv.FormatInt(lastLook.Milliseconds(), 10), "WRITE"); err != nil {
			return err
		}
		states, err = all(ctx, conn)
		return err
	})
	return states, err
}

// All looks at every key of the server at addr, by database and name.
func All(ctx context.Context, addr string) ([]cluster.KeyState, error) {
	var states []cluster.KeyState
	err := Admin(ctx, addr, func(conn *wire.Conn) (err error) {
		states, err = all(ctx, conn)
		return err
	})
	return states, err
}

func all(ctx context.Context, conn *wire.Conn) ([]cluster.KeyState, error) {
	used, err := databases(ctx, conn)
	if err != nil {
		return nil, err
	}
	var all []cluster.KeyState
	for _, database := range used {
		if _, err := Do(ctx, conn, "SELECT", strconv.Itoa(database)); err != nil {
			return nil, err
		}
		reply, err := Do(ctx, conn, "KEYS", "*")
		if err != nil {
			return nil, err
		}
		var names []string
		for _, name := range reply.Elems {
			names = append(names, name.Text())
		}
		slices.Sort(names)
		states, err := Inspect(ctx, conn, database, names)
		if err != nil {
			return nil, err
		}
		all = append(all, states...)
	}
	// A key may have expired since KEYS.
	return slices.DeleteFunc(all, func(k cluster.KeyState) bool { return !k.Exists }), nil
}

// databases are those that hold keys, in order.
func databases(ctx context.Context, conn *wire.Conn) ([]int, error) {
	reply, err := Do(ctx, conn, "INFO", "keyspace")
	if err != nil {
		return nil, err
	}
	var used []int
	for line := range strings.Lines(reply.Text()) { // db0:keys=1,expires=0,avg_ttl=0
		if name, _, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(name, "db") {
			n, err := strconv.Atoi(name[len("db"):])
			if err != nil {
				return nil, fmt.Errorf("INFO keyspace: want the number of a database, got %q", line)
			}
			used = append(used, n)
		}
	}
	return used, nil
}
