package checker

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/crowd"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// watchable reports whether a Watch looks at a property.
func watchable(p Property) bool {
	for _, s := range NewWatch(Options{}, nil).watched() {
		if s.property == p {
			return true
		}
	}
	return false
}

// watch gives the events to a Watch, one by one, and says after how many it cries out.
func watch(events []histories.Event, wants func(Property) bool) (Property, int) {
	w := NewWatch(Options{}, wants)
	for i, e := range events {
		if p := w.Add(e); p != "" {
			return p, i + 1
		}
	}
	return "", len(events)
}

// unsettled are the properties of which later events may show that another was violated, and that this
// explains what was seen.
func unsettled() []Property { return []Property{Ownership, TruthfulReplies, Reentrancy, Fencing} }

// What a Watch finds in a beginning of a history, Check finds in all of it, or it finds another violation there that
// explains it; and what Check finds the Watch has found, unless it came so late that the judges were not asked any more.
func watchedRight(t rapid.TB, events []histories.Event) Property {
	t.Helper()
	report := Check(context.Background(), events, Options{rules: true}) // a Watch does not search small keys
	found, n := watch(events, nil)
	explained := report.Result(found).Verdict == Fail || report.Verdict == Fail && slices.Contains(unsettled(), found)
	if found != "" && !explained {
		t.Fatalf("after %d events %s was violated, and it is %+v\n%s", n, found, report.Result(found), show(events))
	}
	for _, res := range report.Results {
		late := res.Witness != nil && res.Witness[len(res.Witness)-1]+len(events)/16+1 >= len(events)
		if res.Verdict == Fail && watchable(res.Property) && found == "" && !late {
			t.Fatalf("%s failed unseen: %s\n%s", res.Property, res.Story, show(events))
		}
	}
	return found
}

func TestWatch(t *testing.T) {
	for _, s := range scenarios {
		watchedRight(t, script(t, s.history))
	}
	found := 0
	for i := range 2_000 {
		if watchedRight(t, randomHistory(rand.New(rand.NewPCG(20250106, uint64(i))))) != "" {
			found++
		}
	}
	if found < 200 {
		t.Errorf("%d of 2000 are violations, so this says little", found)
	}
	rapid.Check(t, func(r *rapid.T) { watchedRight(r, drawShop(r, false)) })
	rapid.Check(t, func(r *rapid.T) {
		if events := drawShop(r, true); watchedRight(r, events) != "" {
			r.Fatalf("%s", show(events))
		}
	})
}

func TestWatchEndsAtTheFirstViolation(t *testing.T) {
	const text = `
		A acquire 0 1 ok ttl=1000 deadline=1000
		B acquire 2 3 fail ttl=1000
		B acquire 1001 1002 ok ttl=1000 deadline=2001
		A read 1003 1004 ok version=0
		B read 1005 1006 ok version=0
		B write 1007 1008 ok version=0
		A write 1009 1010 ok version=1
		A release 1011 1012 fail
		B release 1013 1014 ok`
	events := script(t, text)
	for _, c := range []struct {
		wants func(Property) bool
		found Property
		after int
	}{
		{nil, StrictExclusion, 6},
		// Whoever expects clients to sleep through their leases wants to see what comes of it.
		{func(p Property) bool { return p != StrictExclusion }, ResourceSafety, 14},
		{func(p Property) bool { return p == Fencing }, "", len(events)},
	} {
		if found, after := watch(events, c.wants); found != c.found || after != c.after {
			t.Errorf("%q after %d events, want %q after %d", found, after, c.found, c.after)
		}
	}
}

// A Watch of what is no history says nothing, and leaves it to Check.
func TestWatchOfNoHistory(t *testing.T) {
	events := script(t, "A acquire 0 1 ok\n B acquire 2 3 ok")
	events[1].Index = 7
	if found, _ := watch(events, nil); found != "" {
		t.Errorf("%s", found)
	}
}

// TestWatchForgets checks that a Watch of a long history keeps no more of it than a stretch, and sees what
// breaks at its end.
func TestWatchForgets(t *testing.T) {
	w := NewWatch(Options{}, nil)
	most, found := 0, Property("")
	crowd := crowd.Crowd{Operations: effort.Count(40_000, 1_000_000), Clients: 8, Unknown: 0.01, Bad: true}
	for _, e := range crowd.Events() {
		if p := w.Add(e); p != "" {
			found = p
			break
		}
		most = max(most, w.stream.divider.calls)
	}
	if found != StrictExclusion || w.Len() < 2*crowd.Operations {
		t.Errorf("after %d events %q was violated, want %s at the end of about %d", w.Len(), found, StrictExclusion, 2*crowd.Operations)
	}
	if most > 3*spared {
		t.Errorf("%d calls were kept at once, want %d at most", most, 3*spared)
	}
}
