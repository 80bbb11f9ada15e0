package nemesis_test

import (
	"testing"

	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// TestSubscriberCut: subscriptions break and are refused, other connections live, and
// messages arrive again after healing.
func TestSubscriberCut(t *testing.T) {
	everywhere(t, func(w world) {
		link := w.Link("A", "master")
		other := w.connect()
		defer func() { _ = other.Close() }()
		w.replies(other, "PONG", "PING")
		broken := w.subscribe()
		broken.receives("subscribe")
		w.want("1", "PUBLISH", "c", "before")
		broken.receives("before")
		w.start(nemesis.SubscriberCut("A", []*wire.Link{link}, w.clock))
		broken.ends()
		w.subscribe().ends()
		w.replies(other, "PONG", "PING")
		must(t, w.HealAll(ctx))
		healed := w.subscribe()
		healed.receives("subscribe")
		w.replies(other, "1", "PUBLISH", "c", "after")
		healed.receives("after")
		_ = healed.Close()
	}, seen(both("its subscriptions break"), both("1 subscription broken, 1 more refused")))
}

func TestSubscriberCutWithoutSubscription(t *testing.T) {
	everywhere(t, func(w world) {
		w.start(nemesis.SubscriberCut("A", []*wire.Link{w.Link("A", "master")}, w.clock))
		w.want("PONG", "PING")
		must(t, w.HealAll(ctx))
	}, seen(both("its subscriptions break"), both("it had none, and wanted none")))
}
