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
		"closed": {func(client string, l *wire.Link) nemesis.Fault { return nemesis.LostReply(client, l, wire.Match{}) }, false, "the reply to its next command gets lost"},
		"hung":   {nemesis.HungReply, true, "the reply to its next command gets lost, and the connection hangs"},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(w world) {
				w.start(tc.fault("A", w.Link("A", "master")))
				nc, err := w.Dial(ctx, "A", "master")
				must(t, err)
				conn := wire.NewConn(nc)
				defer func() { _ = conn.Close() }()
				limit := answerLimit
				if tc.hangs {
					limit = time.Second
				}
				waiting, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				_, err = conn.Do(waiting, "SET", "k", "v")
				if err == nil || errors.Is(err, context.DeadlineExceeded) != tc.hangs {
					t.Errorf("the client sees %v", err)
				}
				keys, err := w.Inspect(ctx, "master", 0, "k")
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

// TestRepliesOfSeveralServersGetLost: of each the first, and no other. The register stands
// for a second server.
func TestRepliesOfSeveralServersGetLost(t *testing.T) {
	everywhere(t, func(w world) {
		links := []*wire.Link{w.Link("A", "master"), w.Link("A", "register")}
		w.start(nemesis.LostReplies("A", []string{"master", "register"}, links, make([]wire.Match, 2)))
		lost := w.connect()
		if reply, err := lost.Do(ctx, "SET", "k", "v"); err == nil {
			t.Errorf("the client was told %v", reply)
		}
		w.replies(w.connect(), "v", "GET", "k")
		must(t, w.HealAll(ctx))
		w.want("v", "GET", "k")
	}, seen(both("the replies to its next commands to master, register get lost"), both("lost: the replies of master to SET")))
}
