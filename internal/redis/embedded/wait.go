package embedded

import (
	"context"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// note remembers, for WAIT, that a connection is about to send a command that may change
// something: that change would be the next one in the stream to the replicas.
func (n *node) note(srv *server.Server, p *server.Peer, cmd string) {
	feeds := n.downstream()
	if len(feeds) == 0 || stateOf(p).nested || changesNothing(srv, cmd) {
		return
	}
	next := made(feeds) + 1
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.wrote[p]; !known {
		p.OnDisconnect(func() { n.forget(p) })
	}
	if n.wrote == nil {
		n.wrote = make(map[*server.Peer]int64)
	}
	n.wrote[p] = next
}

// forget drops what is known of a connection that has ended.
func (n *node) forget(p *server.Peer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.wrote, p)
	delete(n.unsynced, p)
}

// changesNothing reports whether a command certainly leaves the data as it is.
func changesNothing(srv *server.Server, cmd string) bool {
	switch cmd {
	case "HELLO", "AUTH", "SELECT", "CLIENT", "PING", "ECHO", "COMMAND", "INFO", "TIME", "WAIT", "WAITAOF",
		"SCRIPT", "WATCH", "UNWATCH", "MULTI", "DISCARD", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE":
		return true
	}
	return srv.IsReadOnlyCommand(cmd)
}

// made is how many changes the master of feeds has made.
func made(feeds []*feed) (sent int64) {
	for _, f := range feeds {
		f.mu.Lock()
		sent = max(sent, f.sent)
		f.mu.Unlock()
	}
	return sent
}

// wait is Redis' WAIT: it sleeps until enough replicas have the last change that connection p
// made, or for timeout (0: for ever), and returns how many have. What other connections
// changed does not count: for one that has changed nothing, every replica that is connected
// will do.
func (n *node) wait(p *server.Peer, replicas int, timeout time.Duration) int {
	n.mu.Lock()
	last := n.wrote[p]
	n.mu.Unlock()
	want := min(last, made(n.downstream())) // less, if its last command has changed nothing
	start := n.source.Now()
	for {
		count, next := 0, time.Time{}
		for _, f := range n.downstream() {
			arrived, due := f.acknowledged(want)
			if arrived {
				count++
			} else if !due.IsZero() && (next.IsZero() || due.Before(next)) {
				next = due
			}
		}
		if count >= replicas {
			return count
		}
		if timeout > 0 {
			if end := start.Add(timeout); next.IsZero() || next.After(end) {
				next = end
			}
			if !n.source.Now().Before(start.Add(timeout)) {
				return count
			}
		}
		if next.IsZero() {
			return count // nothing is on its way: waiting for ever would stop the world
		}
		if n.source.Sleep(context.Background(), next.Sub(n.source.Now())) != nil {
			return count
		}
	}
}

// acknowledged is lead as the master sees it. One that is not connected has acknowledged
// nothing, and one that joined or came back not before it has its copy.
func (f *feed) acknowledged(offset int64) (arrived bool, due time.Time) {
	f.mu.Lock()
	connected := !f.cut && !f.promoted
	offset = max(offset, f.since)
	f.mu.Unlock()
	if !connected || !f.to.isAlive() {
		return false, due
	}
	return f.lead(offset)
}
