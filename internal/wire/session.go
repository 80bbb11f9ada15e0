package wire

import (
	"context"
	"fmt"
	"net"
	"sync"
)

const bufferSize = 16 << 10 // of each direction of each connection

// conn is one client connection and the node connection that carries it on.
type conn struct {
	link   *Link
	id     int
	client net.Conn
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	done   chan struct{} // closed when the connection ends
	closed chan struct{} // closed when end has closed both sides
	turn   chan struct{} // held while the observer is called
	lines  sync.WaitGroup

	// Guarded by link.mu.
	node       net.Conn
	ended      bool
	err        error
	pending    queue
	commands   int     // that have arrived
	unanswered int     // commands whose reply was not forwarded in full
	lastSent   bool    // the client has ended and all that it sent is forwarded
	waits      [2]bool // by Direction: stands before a frozen gate
	subscriber bool    // has sent SUBSCRIBE or the like

	database int // that the client has selected; used by the request pump alone
}

// serve dials the node and runs both directions to their end.
func (c *conn) serve() {
	if !c.pass(Requests) || !c.pass(Replies) {
		return
	}
	node, err := c.link.dial(context.WithValue(c.ctx, connNumber{}, c.id))
	if err != nil {
		c.end(fmt.Errorf("dial: %w", err))
		return
	}
	if !c.attach(node) {
		_ = node.Close() // ended while dialling: nothing was exchanged
		return
	}
	replied := make(chan struct{})
	go func() {
		defer close(replied)
		p := &replyPump{conn: c, in: inlet{conn: c, from: node, direction: Replies}, buf: c.link.buffers.get(), clock: c.link.clock(c.id, Replies)}
		defer func() { c.link.buffers.put(p.buf) }()
		p.run()
	}()
	p := &requestPump{conn: c, in: inlet{conn: c, from: c.client, direction: Requests}, buf: c.link.buffers.get()}
	p.run()
	c.link.buffers.put(p.buf)
	<-replied
	c.end(nil)
	c.lines.Wait()
}

func (c *conn) attach(node net.Conn) bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.node = node
	return !c.ended
}

// end closes both sides. The first reason given is the one that counts. It says whether
// that took the connection from a client that still had it.
func (c *conn) end(err error) (taken bool) {
	c.link.mu.Lock()
	if c.ended {
		c.link.mu.Unlock()
		return false
	}
	taken = !c.lastSent
	c.ended = true
	if err != nil {
		c.err = c.link.describe(err)
	}
	close(c.done)
	node := c.node
	c.link.mu.Unlock()
	c.cancel()
	// The connection is over: an error on closing has nobody to tell and nothing to change.
	_ = c.client.Close()
	if node != nil {
		_ = node.Close()
	}
	close(c.closed)
	return taken
}

// pass waits while the link is frozen in this direction and says whether the connection lives.
func (c *conn) pass(d Direction) bool {
	waited := false
	for {
		c.link.mu.Lock()
		ended, thawed := c.ended, c.link.thawed[d]
		c.waits[d] = thawed != nil && !ended
		c.link.mu.Unlock()
		switch {
		case ended:
			return false
		case thawed != nil:
			waited = true
			select {
			case <-thawed:
			case <-c.done:
			}
		case waited:
			waited = false
			if !c.ownInstant(d) {
				return false
			}
		default:
			return true
		}
	}
}

func (c *conn) protocolError(from string, err error) {
	c.end(fmt.Errorf("connection %d, from the %s: %w", c.id, from, err))
}

// emit calls the observer, one event of this connection at a time.
func (c *conn) emit(k Kind, cmd *Command, reply string) {
	c.link.mu.Lock()
	f := c.link.observer
	c.link.mu.Unlock()
	if f == nil {
		return
	}
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	f(Event{Kind: k, Command: *cmd, Reply: reply})
}

// hold stops the calling pump at h and says whether to go on.
func (c *conn) hold(h *Hold, cmd *Command, reply string) bool {
	if !h.begin(c, cmd) {
		return true
	}
	c.emit(Held, cmd, reply)
	close(h.seen)
	if !h.wait(c) {
		c.emit(Dropped, cmd, reply)
		return false
	}
	c.emit(Released, cmd, reply)
	if h.action == holdRequest {
		return c.pass(Requests)
	}
	return c.ownInstant(Replies) && c.pass(Replies)
}

// ownInstant waits until an instant of this direction's own clock, if it has one, and says whether the connection lives.
// What goes on at the instant of whoever lets it go on would leave the order of the two to chance.
func (c *conn) ownInstant(d Direction) bool {
	c.link.mu.Lock()
	clocks := c.link.clocks
	c.link.mu.Unlock()
	return clocks == nil || clocks(c.id, d).Sleep(c.ctx, 0) == nil
}
