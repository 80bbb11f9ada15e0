package player

import (
	"github.com/lockbench/lockbench/histories"
)

// Crash ends the client by kill: it believes nothing any more, and until Restart it does
// nothing any more. A call that it is in has no outcome, as nobody is left to learn it. It
// may be called at any time.
func (c *Client) Crash(kill func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := kill(); err != nil {
		return err
	}
	c.Recorder.Record(histories.Event{Process: c.number(), Worker: c.Worker, Type: histories.Info, F: histories.Crash})
	c.retired++
	c.lives++
	c.crashed = true
	c.hold(nil)
	return nil
}

// dead reports whether the client has crashed and nobody has taken its place.
func (c *Client) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crashed
}

// Restart lets another client, with a new process number, go on in the place of one that
// crashed.
func (c *Client) Restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashed = false
}

// alive reports whether the client of a life is still there.
func (c *Client) alive(life int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lives == life && !c.crashed
}

// Life is how many clients have been in this one's place before. It may be called at any time.
func (c *Client) Life() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lives
}
