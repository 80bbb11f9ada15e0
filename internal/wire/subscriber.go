package wire

import "slices"

// CutSubscribers closes the connections that have subscribed to a channel or a pattern,
// and until HealSubscribers each that tries to. Others live on. It returns how many it
// closed just now.
//
// A connection that has ever subscribed counts, also if it has unsubscribed since: the
// link no longer reads what is said on it.
func (l *Link) CutSubscribers() (closed int) {
	l.mu.Lock()
	l.subscribersCut = true
	conns := slices.Clone(l.conns)
	l.mu.Unlock()
	for _, c := range conns {
		if c.isSubscriber() && c.end(ErrCut) {
			closed++
		}
	}
	return closed
}

// HealSubscribers undoes CutSubscribers and returns how many connections were closed
// since, because they tried to subscribe.
func (l *Link) HealSubscribers() (refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused, l.subscribersRefused = l.subscribersRefused, 0
	l.subscribersCut = false
	return refused
}

func (c *conn) isSubscriber() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return c.subscriber
}

// subscribe notes that the connection subscribes, if words say so, and says whether it
// may.
func (c *conn) subscribe(words [][]byte) bool {
	if !subscribes(words) {
		return true
	}
	l := c.link
	l.mu.Lock()
	c.subscriber = true
	if !l.subscribersCut {
		l.mu.Unlock()
		return true
	}
	l.subscribersRefused++
	cmd := newCommand(words, c.id)
	cmd.Seq = c.count()
	l.mu.Unlock()
	c.emit(Dropped, cmd, "")
	c.end(ErrCut)
	return false
}

func subscribes(words [][]byte) bool {
	name := words[0]
	return isWord(name, "SUBSCRIBE") || isWord(name, "PSUBSCRIBE") || isWord(name, "SSUBSCRIBE")
}
