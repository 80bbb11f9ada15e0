package embedded

import (
	"context"
	"sync/atomic"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

var _ cluster.MemorySimulator = (*Cluster)(nil)

// outOfMemory is what Redis answers under maxmemory and noeviction.
const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."

// SimulateFullMemory makes node refuse what needs memory: miniredis does not know
// maxmemory. It ends with the node.
func (c *Cluster) SimulateFullMemory(_ context.Context, name string, full bool) error {
	n, err := c.node(name)
	if err == nil {
		n.memory.full.Store(full)
	}
	return err
}

// memoryLimit refuses commands as a server whose memory is full does. A transaction that
// was queued before is let through, unlike on a real server.
type memoryLimit struct {
	full  atomic.Bool
	wrote atomic.Bool // whether the script that runs now has written: it may then go on
}

// refuses reports whether it has refused a command. It is part of the node's hook.
func (l *memoryLimit) refuses(srv *server.Server, p *server.Peer, cmd string, args []string) bool {
	if !l.full.Load() || isSpoiler(cmd, args) {
		return false
	}
	conn := stateOf(p)
	refused := needsMemory(cmd)
	switch {
	case conn.nested:
		refused = refused && !l.wrote.Load()
		if !refused && (isWrite(cmd) || needsMemory(cmd)) {
			l.wrote.Store(true)
		}
	case conn.multi: // the queue itself needs memory
		switch cmd {
		case "EXEC", "DISCARD", "QUIT", "RESET":
			return false
		}
		refused = true
		spoil(srv, p)
	default:
		l.wrote.Store(false) // a script begins, if it is one
	}
	if refused {
		p.WriteError(outOfMemory)
	}
	return refused
}

// spoil makes the transaction of p fail at EXEC, as one does that has seen an error:
// miniredis believes so after a command that is short of arguments.
func spoil(srv *server.Server, p *server.Peer) {
	nobody := discard()
	nobody.Ctx = p.Ctx
	srv.Dispatch(nobody, []string{"GET"})
}

func isSpoiler(cmd string, args []string) bool { return cmd == "GET" && len(args) == 0 }

// needsMemory reports whether Redis puts the flag denyoom on a command that miniredis knows: 7.0, or
// 8.0 on those that came later.
func needsMemory(cmd string) bool {
	switch cmd {
	case "SET", "SETNX", "SETEX", "PSETEX", "GETSET", "MSET", "MSETNX", "APPEND", "SETRANGE", "SETBIT", "BITOP",
		"INCR", "INCRBY", "INCRBYFLOAT", "DECR", "DECRBY", "COPY", "RESTORE",
		"HSET", "HSETNX", "HMSET", "HINCRBY", "HINCRBYFLOAT", "HSETEX", "HEXPIRE",
		"LPUSH", "LPUSHX", "RPUSH", "RPUSHX", "LINSERT", "LSET", "LMOVE", "BLMOVE", "RPOPLPUSH", "BRPOPLPUSH",
		"SADD", "SDIFFSTORE", "SINTERSTORE", "SUNIONSTORE",
		"ZADD", "ZINCRBY", "ZINTERSTORE", "ZUNIONSTORE", "GEOADD", "GEORADIUS", "GEORADIUSBYMEMBER",
		"PFADD", "PFMERGE", "XADD", "XGROUP":
		return true
	}
	return false
}
