package nemesis_test

import (
	"testing"
)

// TestSubscriberCut: subscriptions break and are refused, other connections live, and
// messages arrive again after healing.
func TestSubscriberCut(t *testing.T) {
	everywhere(t, func(w world) {
		other := w.connect()
		defer func() { _ = other.Close() }()
		w.replies(other, "PONG", "PING")
		broken := w.subscribe()
		broken.receives("subscribe")
		w.want("1", "PUBLISH", "c", "before")
		broken.receives("before")
		w.begin("subscriber-cut", atA)
		broken.ends()
		w.subscribe().ends()
		w.replies(other, "PONG", "PING")
		must(t, w.HealAll(ctx))
		healed := w.subscribe()
		healed.receives("subscribe")
		_, err := other.Do(ctx, "PUBLISH", "c", "after") // a busy server may still count the one that was broken
		must(t, err)
		healed.receives("after")
		_ = healed.Close()
	}, seen(both("its subscriptions break"), both("1 subscription broken, 1 more refused")))
}

func TestSubscriberCutWithoutSubscription(t *testing.T) {
	everywhere(t, func(w world) {
		w.begin("subscriber-cut", atA)
		w.want("PONG", "PING")
		must(t, w.HealAll(ctx))
	}, seen(both("its subscriptions break"), both("it had none, and wanted none")))
}
