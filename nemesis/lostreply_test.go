package nemesis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// TestLostReplies: the server executes the command, and the client does not hear of it.
// One connection breaks, the other hangs.
func TestLostReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(string, *wire.Link) nemesis.Fault
		hangs bool
		plan  string
	}{
		"closed": {nemesis.LostReply, false, "the reply to its next command gets lost"},
		"hung":   {nemesis.HungReply, true, "the reply to its next command gets lost, and the connection hangs"},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(w world) {
				w.start(tc.fault("A", w.Link("A", "master")))
				nc, err := w.Dial(ctx, "A", "master")
				must(t, err)
				conn := wire.NewConn(nc)
				defer func() { _ = conn.Close() }()
				soon, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err = conn.Do(soon, "SET", "k", "v")
				if err == nil || errors.Is(err, context.DeadlineExceeded) != tc.hangs {
					t.Errorf("the client sees %v", err)
				}
				keys, err := w.Inspect(ctx, "master", "k")
				must(t, err)
				if keys[0].Value != "v" {
					t.Errorf("the server did not execute it: %+v", keys[0])
				}
				must(t, w.HealAll(ctx))
				w.want("v", "GET", "k")
			}, seen(both(tc.plan), both("lost: the reply to SET k v")))
		})
	}
}

// TestLostReplyWithoutCommand: healing disarms it.
func TestLostReplyWithoutCommand(t *testing.T) {
	everywhere(t, func(w world) {
		w.start(nemesis.HungReply("A", w.Link("A", "master")))
		must(t, w.HealAll(ctx))
		w.want("PONG", "PING")
	}, seen(both("the reply to its next command gets lost, and the connection hangs"), both("no command came")))
}
