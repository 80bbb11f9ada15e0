package wire

import "strconv"

// requestPump carries the client's bytes to the node.
//
//	buf:  0 ── sent ── scanned ── read ── len
//	      gone  │ commands │ part of │ free
//	            │ to send  │ the next│
type requestPump struct {
	*conn
	in        inlet
	buf       []byte
	sent      int
	scanned   int
	read      int
	scan      commandScanner
	streaming bool // the command being scanned is counted, and partly sent
	raw       bool
}

func (p *requestPump) run() {
	for {
		n, err := p.in.read(p.buf[p.read:])
		p.read += n
		if !p.pass(Requests) {
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

// take forwards what was read and says whether to read on.
func (p *requestPump) take() bool {
	for !p.raw && p.scanned < p.read {
		command := p.buf[p.scanned:p.read]
		done, err := p.scan.scan(command)
		if err != nil {
			p.flush()
			p.protocolError("client", err)
			return false
		}
		if !done {
			break
		}
		end := p.scanned + p.scan.pos
		if !p.streaming && !p.admit(end) {
			return false
		}
		p.streaming, p.scanned = false, end
		p.scan.reset()
	}
	if p.raw {
		p.scanned = p.read
	}
	if !p.flush() {
		return false
	}
	p.compact()
	if p.read == len(p.buf) {
		return p.overflow()
	}
	return true
}

// admit numbers the command that ends at end, tells those who watch, and waits
// for a rule that stops it.
func (p *requestPump) admit(end int) bool {
	words := p.scan.words(p.buf[p.scanned:end])
	if len(words) == 0 {
		return true // blank: the node skips it without a reply
	}
	if p.raw = endsMatching(words); p.raw && !p.subscribe(words) {
		return false
	}
	database := p.database
	p.selects(words)
	if p.unwatched(p.raw) {
		return true
	}
	if !p.flush() || !p.pass(Requests) {
		return false
	}
	cmd := newCommand(words, p.id)
	cmd.Database = database
	p.link.mu.Lock()
	cmd.Seq = p.count()
	p.link.mu.Unlock()
	if p.loses(cmd) {
		return false
	}
	passed := p.link.passed(cmd, holdRequest)
	p.link.mu.Lock()
	h := p.link.due(cmd, passed, holdRequest)
	p.link.mu.Unlock()
	if h != nil && !p.hold(h, cmd, "") {
		return false
	}
	twice := p.repeat(cmd, p.buf[p.scanned:end])
	if twice != nil && !p.pass(Requests) {
		return false
	}
	passed = p.link.passed(cmd, holdReply, dropReply)
	effects := p.link.effects(cmd)
	p.link.mu.Lock()
	p.push(pending{cmd: cmd, hold: p.link.due(cmd, passed, holdReply, dropReply), effects: effects, repeat: twice, raw: p.raw})
	p.link.mu.Unlock()
	p.emit(Sent, cmd, "")
	p.scanned = end
	return p.flush()
}

// selects notes which database the commands after this one are about. What the node makes of
// SELECT is not waited for: clients choose a database that there is.
func (c *conn) selects(words [][]byte) {
	switch name := words[0]; {
	case len(name) == 6 && len(words) == 2 && isWord(name, "SELECT"):
		if n, err := strconv.Atoi(string(words[1])); err == nil && n >= 0 {
			c.database = n
		}
	case len(name) == 5 && isWord(name, "RESET"):
		c.database = 0
	}
}

// flush sends the complete commands.
func (p *requestPump) flush() bool {
	if p.sent == p.scanned {
		return true
	}
	if !p.pass(Requests) {
		return false
	}
	// On an error the node is going away: the reply pump brings what it still said
	// and ends the connection.
	_, err := p.node.Write(p.buf[p.sent:p.scanned])
	p.sent = p.scanned
	return err == nil
}

// compact moves the unsent rest to the front, which happens once per command.
func (p *requestPump) compact() {
	if p.sent == 0 {
		return
	}
	p.read = copy(p.buf, p.buf[p.sent:p.read])
	p.scanned -= p.sent
	p.sent = 0
	if p.read == 0 && len(p.buf) > 4*bufferSize {
		p.buf = make([]byte, bufferSize)
	}
}

// overflow makes room in a buffer that one command fills. A watched command is
// kept until it is complete, since a rule may stop it; any other is sent on in
// parts.
func (p *requestPump) overflow() bool {
	if !p.streaming {
		words := p.scan.words(p.buf[:p.read])
		raw := endsMatching(words)
		if raw && !p.subscribe(words) {
			return false
		}
		if len(words) == 0 || !p.unwatched(raw) {
			p.buf = append(p.buf, make([]byte, len(p.buf))...)
			return true
		}
		p.streaming, p.raw = true, raw
	}
	p.scanned += p.scan.pos
	p.scan.forget()
	if p.raw {
		p.scanned = p.read
	}
	if !p.flush() {
		return false
	}
	p.compact()
	return true
}

// finish delivers what a client left that has ended, and passes its end on.
func (p *requestPump) finish() {
	p.scanned = p.read
	if !p.flush() {
		return
	}
	p.link.mu.Lock()
	p.lastSent = true
	idle := p.raw || p.unanswered == 0
	p.link.mu.Unlock()
	if half, ok := p.node.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	if idle {
		p.end(nil)
	}
}
