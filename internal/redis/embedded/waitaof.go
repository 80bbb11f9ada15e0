package embedded

import (
	"context"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// noteUnsynced remembers, for WAITAOF, that a connection is about to send a command that may change
// something while the append-only file is not synced.
func (n *node) noteUnsynced(srv *server.Server, p *server.Peer, cmd string) {
	if stateOf(p).nested || changesNothing(srv, cmd) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.aof.synced == nil || n.unsynced[p] {
		return
	}
	n.unsynced[p] = true
	p.OnDisconnect(func() { n.forget(p) })
}

// waitAOF answers WAITAOF of Redis 7.2. A file is synced as soon as it is written to, or after StopSyncing not
// at all. Replicas keep none that would count, and none is waited for.
func (n *node) waitAOF(p *server.Peer, args []string) {
	if len(args) != 3 {
		p.WriteError("ERR wrong number of arguments for 'waitaof' command")
		return
	}
	local, err1 := strconv.Atoi(args[0])
	replicas, err2 := strconv.Atoi(args[1])
	ms, err3 := strconv.Atoi(args[2])
	f := n.upstream()
	n.mu.Lock()
	on, synced := n.aof.on, !n.unsynced[p]
	n.mu.Unlock()
	switch conn := stateOf(p); {
	case err1 != nil || err2 != nil:
		p.WriteError("ERR value is not an integer or out of range")
	case local < 0 || local > 1:
		p.WriteError("ERR value is out of range, must be between 0 and 1")
	case replicas < 0:
		p.WriteError("ERR value is out of range, must be positive")
	case err3 != nil:
		p.WriteError("ERR timeout is not an integer or out of range")
	case ms < 0:
		p.WriteError("ERR timeout is negative")
	case conn.nested || conn.multi || replicas > 0:
		if conn.multi && !conn.nested {
			spoil(n.code().srv, p)
		}
		p.WriteError(notSimulated + "WAITAOF for replicas, in a script or in a transaction")
	case f != nil && f.following():
		p.WriteError("ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and are not propagated.")
	case local > 0 && !on:
		p.WriteError("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	default:
		if local > 0 && !synced && ms > 0 { // without an end it would stop the world
			_ = n.source.Sleep(context.Background(), time.Duration(ms)*time.Millisecond)
		}
		p.WriteLen(2)
		p.WriteInt(count(on && synced))
		p.WriteInt(0)
	}
}

// count is 1 for what is there.
func count(there bool) int {
	if there {
		return 1
	}
	return 0
}
