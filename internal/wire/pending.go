package wire

// pending is a command that was sent and not answered yet.
type pending struct {
	cmd    *Command // nil if nobody watched
	hold   *Hold    // rule for its reply, or nil
	repeat *Repeat  // rule that had it executed before, or nil
	raw    bool     // from its reply on, bytes are copied as they are

	effects []effect // that rules for its reply look for
}

// queue is first in, first out.
type queue struct {
	items []pending
	head  int
}

func (q *queue) push(p pending) {
	if q.head > 64 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, p)
}

func (q *queue) peek() (pending, bool) {
	if q.head == len(q.items) {
		return pending{}, false
	}
	return q.items[q.head], true
}

func (q *queue) pop() (pending, bool) {
	p, ok := q.peek()
	if !ok {
		return p, false
	}
	q.items[q.head] = pending{}
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return p, true
}

// unwatched reports whether nobody watches the next command. If so, it is counted
// and pending from here on.
func (c *conn) unwatched(raw bool) bool {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.observer != nil || len(l.rules) > 0 || len(l.losses) > 0 {
		return false
	}
	c.count()
	c.push(pending{raw: raw})
	return true
}

// count numbers a command that has arrived. The caller holds link.mu.
func (c *conn) count() (seq int) {
	c.commands++
	c.link.lastSeq++
	return c.link.lastSeq
}

// push adds a command that waits for its reply. The caller holds link.mu.
func (c *conn) push(p pending) {
	c.pending.push(p)
	if !p.raw {
		c.unanswered++
	}
}

// turnsRaw reports whether the next bytes follow a command that ends matching.
func (c *conn) turnsRaw() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	next, ok := c.pending.peek()
	return ok && next.raw
}
