package wire

import "slices"

// AfterDrop says what becomes of a connection whose reply was dropped.
type AfterDrop uint8

const (
	// CloseConn closes the connection, as a broken network does.
	CloseConn AfterDrop = iota
	// Hang keeps the connection open and swallows that reply and every later one,
	// since a later reply would be taken for the missing one.
	Hang
)

// action is what a rule does to the command that it matches.
type action uint8

const (
	holdRequest action = iota
	holdReply
	dropReply
	executeTwice
)

// stage is how far a rule has come. It only goes forward.
type stage uint8

const (
	armed   stage = iota // waits for its command
	waiting              // its command was sent, the reply is not here yet
	holding              // the command or the reply is stopped
	over
)

// Hold is a rule and, once it has matched, what it stopped. A rule acts on one
// command. Its methods are safe for concurrent use.
type Hold struct {
	link    *Link
	match   Match
	action  action
	then    AfterDrop
	repeat  *Repeat // of the action executeTwice
	seen    chan struct{}
	decided chan struct{} // closed by Release and Drop

	// Guarded by link.mu.
	stage   stage
	count   int
	dropped bool
	command Command
	conn    *conn
}

// Seen is closed when a command is being held; for DropReply, when the reply was
// discarded. It stays open for ever if the rule is released first or its command
// or reply never comes.
func (h *Hold) Seen() <-chan struct{} { return h.seen }

// Command is the command that matched. It is valid once Seen is closed.
func (h *Hold) Command() Command {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	return h.command
}

// Release lets the command or the reply go on, also if the client has gone in
// the meantime. Before Seen it disarms the rule. Only the first call of Release
// and Drop counts.
func (h *Hold) Release() { h.decide(false) }

// Drop discards the held command or reply and closes its connection. Before Seen
// it disarms the rule, as Release does.
func (h *Hold) Drop() { h.decide(true) }

func (h *Hold) decide(drop bool) {
	l := h.link
	l.mu.Lock()
	if h.stage == over {
		l.mu.Unlock()
		return
	}
	h.dropped = drop && h.stage == holding
	h.stage = over
	l.disarm(h)
	c, dropped := h.conn, h.dropped
	close(h.decided)
	l.mu.Unlock()
	if dropped {
		c.end(ErrDropped)
	}
}

// begin reports whether the command or reply that has arrived is to be stopped: the
// rule may have been released since it matched.
func (h *Hold) begin(c *conn, cmd *Command) bool {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	if h.stage == over {
		return false
	}
	h.stage, h.conn, h.command = holding, c, *cmd
	return true
}

// finish marks a rule that needs no decision as done.
func (h *Hold) finish() {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	h.stage = over
}

// wait stops the caller until the hold is decided or its connection ends. It says
// whether to go on.
func (h *Hold) wait(c *conn) bool {
	select {
	case <-h.decided:
	case <-c.done:
	}
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	h.stage = over
	return !h.dropped && !c.ended
}

// passed are the armed rules that cmd fits and whose Before lets it pass, save those that look for
// an effect. The caller does not hold l.mu.
func (l *Link) passed(cmd *Command, actions ...action) []*Hold {
	var passed []*Hold
	for _, h := range l.armed(cmd, actions...) {
		if h.match.Effect == nil && h.match.Before != nil && !h.match.Before(*cmd) {
			passed = append(passed, h)
		}
	}
	return passed
}

// armed are the armed rules that cmd fits.
func (l *Link) armed(cmd *Command, actions ...action) []*Hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	var fit []*Hold
	for _, h := range l.rules {
		if slices.Contains(actions, h.action) && h.match.covers(cmd) {
			fit = append(fit, h)
		}
	}
	return fit
}

// An effect is a rule that waits to see what a command has done.
type effect struct {
	hold *Hold
	had  func() bool
}

// effects asks the rules about replies that look for what cmd does. The caller does not hold
// l.mu.
func (l *Link) effects(cmd *Command) []effect {
	var all []effect
	for _, h := range l.armed(cmd, holdReply, dropReply) {
		if h.match.Effect != nil && (h.match.Before == nil || h.match.Before(*cmd)) {
			all = append(all, effect{h, h.match.Effect(*cmd)})
		}
	}
	return all
}

// take returns the first of the rules that is still armed and whose command had its effect.
// The caller does not hold l.mu.
func (l *Link) take(effects []effect) *Hold {
	for _, e := range effects {
		if !e.had() {
			continue
		}
		l.mu.Lock()
		due := e.hold.stage == armed
		if due {
			if e.hold.count++; e.hold.count < e.hold.match.Nth {
				due = false
			}
		}
		if due {
			l.disarm(e.hold)
			e.hold.stage = waiting
		}
		l.mu.Unlock()
		if due {
			return e.hold
		}
	}
	return nil
}

// due returns the first armed rule whose turn cmd is. Every rule counts every
// match, so the rules set for the first and the second SET stop the first and the
// second; of two rules due at once, the later takes the next match. Rules that passed cmd, and
// those that look for an effect, take no part. The caller holds l.mu.
func (l *Link) due(cmd *Command, passed []*Hold, actions ...action) *Hold {
	var first *Hold
	for _, h := range l.rules {
		if !slices.Contains(actions, h.action) || !h.match.covers(cmd) || h.match.Effect != nil || slices.Contains(passed, h) {
			continue
		}
		h.count++
		if first == nil && h.count >= h.match.Nth {
			first = h
		}
	}
	if first != nil {
		l.disarm(first)
		first.stage = waiting
	}
	return first
}

func (l *Link) arm(h *Hold) *Hold {
	h.link, h.seen, h.decided = l, make(chan struct{}), make(chan struct{})
	h.match.Names, h.match.Keys = slices.Clone(h.match.Names), slices.Clone(h.match.Keys)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = append(l.rules, h)
	return h
}

// disarm takes h off the list. The caller holds l.mu.
func (l *Link) disarm(h *Hold) {
	if i := slices.Index(l.rules, h); i >= 0 {
		l.rules = slices.Delete(l.rules, i, i+1)
	}
}
