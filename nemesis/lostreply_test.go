package nemesis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// TestLostReplies: the server executes the command, and the client does not hear of it.
// One connection breaks, the other hangs.
func TestLostReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		word  string
		hangs bool
		plan  string
	}{
		"closed": {"lost-reply", false, "the reply to its next command gets lost"},
		"hung":   {"hung-reply", true, "the reply to its next command gets lost, and the connection hangs"},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(w world) {
				w.begin(tc.word, nemesis.Target{Clients: atA.Clients, Nodes: atMaster.Nodes})
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
		w.begin("hung-reply", nemesis.Target{Clients: atA.Clients, Nodes: atMaster.Nodes})
		must(t, w.HealAll(ctx))
		w.want("PONG", "PING")
	}, seen(both("the reply to its next command gets lost, and the connection hangs"), both("no command came")))
}

// TestRepliesOfSeveralServersGetLost: of each the first, and no other. The register stands
// for a second server.
func TestRepliesOfSeveralServersGetLost(t *testing.T) {
	everywhere(t, func(w world) {
		every := func(string) wire.Match { return wire.Match{} }
		w.begin("lost-reply", nemesis.Target{Clients: atA.Clients, Nodes: []string{"master", "register"}, Of: every})
		lost := w.connect()
		if reply, err := lost.Do(ctx, "SET", "k", "v"); err == nil {
			t.Errorf("the client was told %v", reply)
		}
		w.replies(w.connect(), "v", "GET", "k")
		must(t, w.HealAll(ctx))
		w.want("v", "GET", "k")
	}, seen(both("the replies to its next commands to master, register get lost"), both("lost: the replies of master to SET")))
}
