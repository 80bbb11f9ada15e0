package wire

import "slices"

// Loss loses some commands of a link and lets the others pass. Its methods are safe for
// concurrent use.
type Loss struct {
	link *Link
	lost func(Command) bool

	// Guarded by link.mu.
	count int
	first Command
}

// Lose discards every command that lost picks, before the node sees it, and closes its
// connection, until Stop. Lost is called for each command as it arrives, for several
// connections at once, and must not wait.
func (l *Link) Lose(lost func(Command) bool) *Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &Loss{link: l, lost: lost}
	l.losses = append(slices.Clone(l.losses), x)
	return x
}

// Stop lets every command pass.
func (x *Loss) Stop() {
	x.link.mu.Lock()
	defer x.link.mu.Unlock()
	x.link.losses = slices.DeleteFunc(slices.Clone(x.link.losses), func(o *Loss) bool { return o == x })
}

// Seen is how many commands were lost, and the first of them.
func (x *Loss) Seen() (count int, first Command) {
	x.link.mu.Lock()
	defer x.link.mu.Unlock()
	return x.count, x.first
}

// loses reports whether cmd is lost. Then its connection has ended.
func (c *conn) loses(cmd *Command) bool {
	c.link.mu.Lock()
	losses := c.link.losses // never changed in place
	c.link.mu.Unlock()
	for _, x := range losses {
		if !x.lost(*cmd) {
			continue
		}
		c.link.mu.Lock()
		if x.count++; x.count == 1 {
			x.first = *cmd
		}
		c.link.mu.Unlock()
		c.emit(Dropped, cmd, "")
		c.end(ErrDropped)
		return true
	}
	return false
}
