package wire

import (
	"bufio"
	"bytes"
	"time"
)

// shortReply is the length of a line that most replies do not exceed.
const shortReply = 256

// replyPump carries the node's bytes to the client. Its buffer is laid out as
// that of requestPump.
type replyPump struct {
	*conn
	in        inlet
	buf       []byte
	sent      int
	scanned   int // end of the last complete reply
	ahead     int // how far the next reply is scanned
	read      int
	scan      replyScanner
	streaming bool // the reply being scanned is matched, and partly sent
	counts    bool // the reply being scanned answers a command
	answered  int  // replies complete since the last settle
	raw       bool
	swallow   bool // a reply was dropped, or the client has gone
	hung      bool // a reply was dropped
	text      *bufio.Reader
	clock     Clock     // nil if the link has none
	flushed   time.Time // when the client was last written to, if there is a clock
}

func (p *replyPump) run() {
	for {
		n, err := p.in.read(p.buf[p.read:])
		p.read += n
		if !p.pass(Replies) {
			return
		}
		if n > 0 && !p.take() {
			return
		}
		if err != nil {
			p.finish()
			return
		}
	}
}

// finish passes the node's end on, behind all that it said and never at the same instant:
// whether the client, to whom the last reply came just now, can still send its next command
// would be left to chance.
func (p *replyPump) finish() {
	p.scanned = p.read
	if !p.flush() {
		return
	}
	p.link.mu.Lock()
	gone := p.lastSent
	p.link.mu.Unlock()
	if p.clock != nil && !gone && p.clock.Now().Equal(p.flushed) {
		_ = p.clock.Sleep(p.ctx, 1) // it only fails if the connection has ended already
	}
	p.end(nil)
}

func (p *replyPump) take() bool {
	for p.ahead < p.read {
		if !p.raw && p.ahead == p.scanned && !p.streaming {
			p.raw = p.turnsRaw()
		}
		if p.raw {
			p.scanned, p.ahead = p.read, p.read
			break
		}
		n, done, err := p.scan.scan(p.buf[p.ahead:p.read])
		p.ahead += n
		if err != nil {
			p.flush()
			p.protocolError("node", err)
			return false
		}
		if !done {
			break
		}
		if !p.streaming && !p.match() {
			return false
		}
		p.complete()
	}
	if !p.flush() {
		return false
	}
	p.compact()
	if p.read == len(p.buf) && !p.streaming {
		if !p.match() {
			return false
		}
		p.streaming = true
	}
	if p.streaming {
		p.scanned = p.ahead
		if !p.flush() {
			return false
		}
		p.compact()
	}
	return p.settle()
}

// match finds the command that the reply at scanned belongs to and does what
// rules ask. It says whether to go on.
func (p *replyPump) match() bool {
	reply := p.buf[p.scanned:p.ahead]
	if p.counts = reply[0] != '>'; !p.counts {
		return true
	}
	p.link.mu.Lock()
	next, ok := p.pending.pop()
	watched := next.hold != nil || len(next.effects) > 0 || next.repeat != nil || p.link.observer != nil
	p.link.mu.Unlock()
	p.counts = ok // a node may speak unasked, such as when it has too many clients
	if next.cmd == nil || !watched {
		return true
	}
	if !p.flush() || !p.pass(Replies) {
		return false
	}
	text := p.describe(reply)
	if next.hold == nil {
		next.hold = p.link.take(next.effects)
	}
	if next.repeat != nil {
		next.repeat.answered(text)
	}
	switch {
	case p.hung:
		p.emit(Dropped, next.cmd, text)
		return true
	case next.hold == nil:
	case next.hold.action == holdReply:
		if !p.hold(next.hold, next.cmd, text) {
			return false
		}
	case next.hold.begin(p.conn, next.cmd):
		return p.drop(next.hold, next.cmd, text)
	}
	p.emit(Replied, next.cmd, text)
	return true
}

func (p *replyPump) drop(h *Hold, cmd *Command, text string) bool {
	h.finish()
	p.emit(Dropped, cmd, text)
	if h.then == Hang {
		p.swallow, p.hung = true, true
	} else {
		p.end(ErrDropped)
	}
	close(h.seen)
	return h.then == Hang
}

func (p *replyPump) complete() {
	p.streaming, p.scanned = false, p.ahead
	if p.counts {
		p.answered++
	}
}

// settle counts the replies that were forwarded. It ends the connection after
// the last one to a client that has ended.
func (p *replyPump) settle() bool {
	if p.answered == 0 {
		return true
	}
	p.link.mu.Lock()
	p.unanswered -= p.answered
	last := p.lastSent && p.unanswered == 0
	p.link.mu.Unlock()
	p.answered = 0
	if !last {
		return true
	}
	if _, ok := p.node.(interface{ CloseWrite() error }); ok {
		return true // the node has been told, and closes by itself
	}
	p.end(nil)
	return false
}

func (p *replyPump) flush() bool {
	if p.sent == p.scanned {
		return true
	}
	if !p.pass(Replies) {
		return false
	}
	if !p.swallow {
		_, err := p.client.Write(p.buf[p.sent:p.scanned])
		// A client that has gone does not stop the node's work: what was sent or is
		// held for it must still be carried out, and the replies go nowhere.
		p.swallow = err != nil
		if p.clock != nil && err == nil {
			p.flushed = p.clock.Now()
		}
	}
	p.sent = p.scanned
	return true
}

func (p *replyPump) compact() {
	if p.sent == 0 {
		return
	}
	p.read = copy(p.buf, p.buf[p.sent:p.read])
	p.scanned -= p.sent
	p.ahead -= p.sent
	p.sent = 0
}

// describe abbreviates a reply for an Event.
func (p *replyPump) describe(b []byte) string {
	src := bytes.NewReader(b)
	if p.text == nil {
		p.text = bufio.NewReaderSize(src, shortReply)
	} else {
		p.text.Reset(src)
	}
	reply, err := ReadReply(p.text)
	if err != nil { // only the start of a long reply is here
		header, _, _ := bytes.Cut(b[:min(len(b), maxHeader)], []byte("\r\n"))
		return printable(string(header)) + "…"
	}
	return reply.String()
}
