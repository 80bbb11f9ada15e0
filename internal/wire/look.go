package wire

import "fmt"

// What can be seen of a link from outside.

// String names the two ends.
func (l *Link) String() string { return fmt.Sprintf("link %s→%s", l.client, l.node) }

// Commands is how many commands have arrived from the client. What follows a subscription
// on its connection does not count.
func (l *Link) Commands() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastSeq
}

// CommandsByConn is how many commands have arrived on each open connection, by its number.
func (l *Link) CommandsByConn() map[int]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	by := make(map[int]int, len(l.conns))
	for _, c := range l.conns {
		by[c.id] = c.commands
	}
	return by
}

// Frozen reports whether Freeze or FreezeOneWay stops that direction now.
func (l *Link) Frozen(d Direction) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.thawed[d] != nil
}

// Open counts the connections that have not ended.
func (l *Link) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Holding reports whether a command or reply is being stopped now, on a connection that
// lives.
func (h *Hold) Holding() bool {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	return h.stage == holding && !h.conn.ended
}

// Matched reports whether the rule has found its command. What it is to stop may be still on
// its way, and a rule that was released before it matched has not.
func (h *Hold) Matched() bool {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	return h.stage == waiting || h.stage == holding
}
