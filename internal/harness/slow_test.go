package harness_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/nemesis"
)

// TestSlow checks which answers show a machine that was too slow for a lock that waits for a server for a twentieth of its lease.
func TestSlow(t *testing.T) {
	const ms = time.Millisecond
	fault := func(at time.Duration, kind histories.Type) histories.Event {
		return histories.Event{Time: at, Process: histories.Nemesis, Worker: histories.Nemesis, Type: kind, F: "pause", Node: "master"}
	}
	as := func(f histories.F, e histories.Event) histories.Event {
		e.F, e.Node = f, "A|n4,n5"
		return e
	}
	over := histories.Event{Time: 5000 * ms, Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Missed}
	took := func(from, to time.Duration) histories.Exchange {
		return histories.Exchange{Client: "A", Node: "master", Command: "SET k a NX PX 4000", Sent: from, Replied: to}
	}
	held, waits := took(10*ms, 300*ms), took(10*ms, 300*ms)
	held.Note, waits.Command = histories.ReplyLetGo, "WAIT 1 1000"
	for name, tc := range map[string]struct {
		backend  string
		events   []histories.Event
		exchange histories.Exchange
		want     bool
	}{
		"in time":                     {"process", []histories.Event{over}, took(10*ms, 109*ms), false},
		"late":                        {"process", []histories.Event{over}, took(10*ms, 111*ms), true},
		"late in virtual time":        {"embedded", []histories.Event{over}, took(10*ms, 111*ms), false},
		"never":                       {"process", []histories.Event{over}, took(10*ms, 0), true},
		"not yet":                     {"process", []histories.Event{over}, took(4900*ms, 0), false},
		"held up on purpose":          {"process", []histories.Event{over}, held, false},
		"it waits by itself":          {"process", []histories.Event{over}, waits, false},
		"while a fault lasts":         {"process", []histories.Event{fault(5*ms, histories.Invoke), fault(20*ms, histories.OK), over}, took(10*ms, 300*ms), false},
		"after a fault":               {"process", []histories.Event{fault(1*ms, histories.Invoke), fault(5*ms, histories.OK), over}, took(10*ms, 300*ms), true},
		"a fault that is not over":    {"process", []histories.Event{fault(1*ms, histories.Invoke), over}, took(10*ms, 300*ms), false},
		"cut off until then":          {"process", []histories.Event{as(nemesis.PartitionF, fault(5*ms, histories.Invoke)), as(nemesis.PartitionF, fault(20*ms, histories.OK)), over}, took(10*ms, 300*ms), false},
		"while others are cut off":    {"process", []histories.Event{as(nemesis.PartitionF, fault(5*ms, histories.Invoke)), over}, took(10*ms, 300*ms), true},
		"cut off":                     {"process", []histories.Event{as(nemesis.PartitionF, fault(5*ms, histories.Invoke)), over}, took(10*ms, 0), false},
		"cut off in the middle":       {"process", []histories.Event{as(nemesis.PartitionF, fault(20*ms, histories.Invoke)), over}, took(10*ms, 300*ms), false},
		"while others' reply is held": {"process", []histories.Event{as(nemesis.HoldF, fault(5*ms, histories.Invoke)), over}, took(10*ms, 300*ms), true},
		"late while all is slow":      {"process", []histories.Event{as(nemesis.LatencyF, fault(5*ms, histories.Invoke)), over}, took(10*ms, 300*ms), false},
		"nothing happened":            {"process", nil, took(10*ms, 300*ms), false},
	} {
		r := harness.Result{
			Config: harness.Config{Test: harness.Test{TTL: 4 * time.Second}}, Meta: histories.Meta{Backend: tc.backend},
			Events: tc.events, Exchanges: []histories.Exchange{tc.exchange},
		}
		if got := r.Slow(); got != tc.want {
			t.Errorf("%s: slow %v, want %v", name, got, tc.want)
		}
	}
}
