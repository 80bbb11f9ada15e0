package nemesis_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// TestOneWay: the server executes the command at once or not before healing, and either
// way the client hears of it only then.
func TestOneWay(t *testing.T) {
	for way, plan := range map[nemesis.Way]string{
		nemesis.FromIt: "the lock's servers do not hear it any more",
		nemesis.ToIt:   "it does not hear the lock's servers any more, and they hear it",
	} {
		t.Run(plan, func(t *testing.T) {
			everywhere(t, func(w world) {
				nc, err := w.Dial(ctx, "A", "master")
				must(t, err)
				conn := wire.NewConn(nc)
				defer func() { _ = conn.Close() }()
				_, err = conn.Do(ctx, "PING") // the connection is up
				must(t, err)
				link := w.Link("A", "master")
				w.begin("one-way", nemesis.Target{Clients: atA.Clients, Way: way})
				answer := make(chan error, 1)
				go func() {
					_, err := conn.Do(ctx, "SET", "k", "v")
					answer <- err
				}()
				executed := func() bool {
					keys, err := w.Inspect(ctx, "master", 0, "k")
					must(t, err)
					return keys[0].Exists
				}
				w.keeps(link)
				if executed() != (way == nemesis.ToIt) {
					t.Errorf("the server executed the command: %v", executed())
				}
				select {
				case err := <-answer:
					t.Errorf("the client heard of it: %v", err)
				default:
				}
				must(t, w.HealAll(ctx))
				must(t, <-answer)
				w.want("v", "GET", "k")
			}, seen(both(plan), both("something on 1 connection got lost, and is sent again")))
		})
	}
}
