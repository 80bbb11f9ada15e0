package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

const (
	// answerLimit bounds the wait for a server that ought to answer.
	answerLimit = 20 * time.Second
	// silence is how long a server that ought not to answer is listened to. A server that
	// does answer may be slower than that: it is one sign beside others.
	silence = 50 * time.Millisecond
)

// errUnseen is the error of a fault that tells nothing of what it did.
var errUnseen = errors.New("nobody saw that it happened: Start or Stop of a fault must say what was observed")

// observed is what was seen when a fault began, and when it was over.
func observed(began, over string) string {
	if began == "" || over == "" {
		return began + over
	}
	return began + "; " + over
}

// seeDead looks whether a server that was killed is dead.
func seeDead(c cluster.Cluster, node string) error {
	if c.Alive(node) {
		return fmt.Errorf("%s was killed and is still running", node)
	}
	return nil
}

// seeAnswer looks whether a server answers.
func seeAnswer(ctx context.Context, c cluster.Commander, node string) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if _, err := c.Do(ctx, node, "PING"); err != nil {
		return fmt.Errorf("%s ought to answer, and does not: %w", node, err)
	}
	return nil
}

// seeSilence looks whether a server that was stopped leaves a PING without an answer.
func seeSilence(ctx context.Context, c cluster.Commander, node string) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	if reply, err := c.Do(ctx, node, "PING"); err == nil {
		return fmt.Errorf("want silence from %s, but it answers PING: %v", node, reply)
	}
	return nil
}

// seeWrites looks whether a server takes writes, as masters do, by one that changes nothing.
func seeWrites(ctx context.Context, c cluster.Commander, node string) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if _, err := c.Do(ctx, node, "DEL", "lockbench:absent"); err != nil {
		return fmt.Errorf("%s ought to be a master that takes writes: %w", node, err)
	}
	return nil
}

// seeFrozen looks whether links are frozen in both directions, or in none.
func seeFrozen(links []*wire.Link, want bool) error {
	for _, l := range links {
		if l.Frozen(wire.Requests) != want || l.Frozen(wire.Replies) != want {
			return fmt.Errorf("%s: want frozen %v, found requests %v, replies %v", l, want, l.Frozen(wire.Requests), l.Frozen(wire.Replies))
		}
	}
	return nil
}

// waiting counts the connections on which something waits for its link to thaw.
func waiting(links []*wire.Link) int {
	n := 0
	for _, l := range links {
		n += l.Waiting()
	}
	return n
}

// stream says how much of its master's stream a replica had when it was cut off, if not as
// much as now, and has now.
func stream(had, have, sent int64) string {
	before := ""
	if had != have { // such as of a replica that was promoted meanwhile
		before = fmt.Sprintf("it had %d, and now ", had)
	}
	if sent < have {
		return before + fmt.Sprintf("it has %d of a stream that its master has begun anew", have)
	}
	return before + fmt.Sprintf("it has %d of %d of its master's stream", have, sent)
}
