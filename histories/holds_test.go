package histories

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHolds(t *testing.T) {
	at := func(event int) Instant { return Instant{Event: event, Time: time.Duration(event) * time.Millisecond} }
	tests := []struct {
		name  string
		build func(b *builder, a *caller) // a is process 4 of worker 2, attempt 7
		want  Hold
		// derived
		believed, open bool
		released       Type
	}{
		{"released", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.call(Release, OK)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(2), End: Release}, true, false, OK},
		{"release refused", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.call(Release, Fail)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(2), End: Release}, true, false, Fail},
		{"release unknown", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.on(Invoke, Release)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(2), End: Release}, true, false, Info},
		{"open", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.call(Write, OK)
		}, Hold{Outcome: OK, Returned: at(1)}, true, true, Info},
		{"lost, then released", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.on(Info, Lost)
			a.call(Release, Fail)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(2), End: Lost}, true, false, Fail},
		{"abandoned", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.on(Info, Abandon)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(2), End: Abandon}, true, false, Info},
		{"crash of another process of the worker", func(b *builder, a *caller) {
			a.call(Acquire, OK)
			a.call(Write, Info)
			b.client(5, 2).on(Info, Crash)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(4), End: Crash}, true, false, Info},
		{"crash of another worker", func(b *builder, a *caller) {
			a.call(Acquire, OK)
			b.client(5, 3).on(Info, Crash)
		}, Hold{Outcome: OK, Returned: at(1)}, true, true, Info},
		{"crash before the acquire", func(_ *builder, a *caller) {
			a.on(Info, Crash)
			a.call(Acquire, OK)
		}, Hold{Invoked: at(1), Outcome: OK, Returned: at(2)}, true, true, Info},
		{"lost before the acquire returned", func(_ *builder, a *caller) {
			a.on(Invoke, Acquire)
			a.on(Info, Lost)
			a.on(OK, Acquire)
		}, Hold{Outcome: OK, Returned: at(2), Ended: at(1), End: Lost}, false, false, Info},
		{"lost before its acquire, which Validate refuses", func(_ *builder, a *caller) {
			a.on(Info, Lost)
			a.call(Acquire, OK)
		}, Hold{Invoked: at(1), Outcome: OK, Returned: at(2)}, true, true, Info},
		{"unknown", func(_ *builder, a *caller) {
			a.call(Acquire, Info)
		}, Hold{Outcome: Info, Returned: at(1)}, false, true, Info},
		{"no completion", func(_ *builder, a *caller) {
			a.on(Invoke, Acquire)
		}, Hold{Outcome: Info}, false, true, Info},
		{"unknown, cleaned up", func(b *builder, a *caller) {
			a.call(Acquire, Info)
			c := b.client(5, 2)
			c.attempt = 7
			c.call(Release, Fail)
			c.call(Release, OK)
		}, Hold{Outcome: Info, Returned: at(1), Ended: at(2), End: Release}, false, false, OK},
		{"one release refused, one unknown", func(_ *builder, a *caller) {
			a.call(Acquire, OK)
			a.call(Release, Fail)
			a.call(Release, Info)
		}, Hold{Outcome: OK, Returned: at(1), Ended: at(2), End: Release}, true, false, Info},
		{"extend of another attempt", func(b *builder, a *caller) {
			a.call(Acquire, OK)
			c := b.client(6, 2)
			c.attempt = 8
			c.call(Extend, OK)
			c.call(Release, OK)
			c.on(Info, Lost)
		}, Hold{Outcome: OK, Returned: at(1)}, true, true, Info},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b builder
			a := b.client(4, 2)
			a.attempt = 7
			tt.build(&b, a)
			holds := Holds(b.events)
			if len(holds) != 1 {
				t.Fatalf("%d holds, want 1", len(holds))
			}
			got := holds[0]
			if got.Believed() != tt.believed || got.Open() != tt.open || got.Released() != tt.released {
				t.Errorf("Believed %v, Open %v, Released %v; want %v, %v, %v",
					got.Believed(), got.Open(), got.Released(), tt.believed, tt.open, tt.released)
			}
			want := tt.want
			want.Attempt, want.Key, want.Worker, want.Process, want.TTL = 7, "orders/42", 2, 4, 3*time.Second
			got.Releases = nil // TestHoldsDetails
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("hold (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHoldsDetails(t *testing.T) {
	const ms = time.Millisecond
	e := func(index int, typ Type, f F, more Event) Event {
		more.Index, more.Time, more.Type, more.F, more.Key = index, time.Duration(index)*ms, typ, f, "orders/42"
		return more
	}
	first := func(process int) Event { return Event{Process: process, Attempt: 1} }
	events := []Event{
		e(0, Invoke, Acquire, Event{Process: 0, Attempt: 1, TTL: 3000 * ms}),
		e(1, Invoke, Acquire, Event{Process: 1, Worker: 1, Attempt: 2, TTL: 9 * ms}),
		e(2, OK, Acquire, Event{Process: 0, Attempt: 1, Token: 5, Deadline: 3001 * ms}),
		e(3, Fail, Acquire, Event{Process: 1, Worker: 1, Attempt: 2}), // refused: no hold
		e(4, Invoke, Extend, Event{Process: 0, Attempt: 1, TTL: 2000 * ms}),
		e(5, Invoke, Extend, Event{Process: 10, Attempt: 1, TTL: 1000 * ms}), // the watchdog's
		e(6, OK, Extend, Event{Process: 10, Attempt: 1, Deadline: 1005 * ms}),
		e(7, OK, Extend, Event{Process: 0, Attempt: 1, Deadline: 2004 * ms}),
		e(8, Invoke, Extend, first(0)),
		e(9, Fail, Extend, first(0)),
		e(10, Invoke, Release, first(0)),
		e(11, OK, Release, first(0)),
		e(12, Invoke, Release, first(0)),
		e(13, Fail, Release, first(0)),
		e(14, Invoke, Acquire, Event{Process: 1, Worker: 1, Attempt: 3, TTL: 4 * ms}),
		e(15, Invoke, Extend, Event{Process: 11, Worker: 1, Attempt: 3, TTL: 5 * ms}),
		e(16, Invoke, Extend, Event{Process: 10, Attempt: 1, TTL: 6 * ms}), // never answered
		e(17, Info, Extend, Event{Process: 11, Worker: 1, Attempt: 3}),
		e(18, Invoke, Extend, Event{Process: 1 << 30, Worker: 1, Attempt: 3, TTL: 7 * ms}),
		e(19, Invoke, Extend, Event{Process: 2, Worker: 1, Attempt: 3, TTL: 8 * ms}),
	}
	wantErr(t, Validate(events), "")
	at := func(i int) Instant { return Instant{Event: i, Time: events[i].Time} }
	want := []Hold{
		{
			Attempt: 1, Key: "orders/42", Outcome: OK, TTL: 3000 * ms, Deadline: 3001 * ms, Token: 5,
			Invoked: at(0), Returned: at(2), Ended: at(10), End: Release,
			Extends: []Extension{
				{Invoked: at(5), Returned: at(6), TTL: 1000 * ms, Deadline: 1005 * ms},
				{Invoked: at(4), Returned: at(7), TTL: 2000 * ms, Deadline: 2004 * ms},
			},
			Unknown: []Extension{{Invoked: at(16), TTL: 6 * ms}},
			Releases: []Answer{
				{Invoked: at(10), Returned: at(11), Outcome: OK},
				{Invoked: at(12), Returned: at(13), Outcome: Fail},
			},
		},
		{
			Attempt: 3, Key: "orders/42", Process: 1, Worker: 1, Outcome: Info, TTL: 4 * ms, Invoked: at(14),
			Unknown: []Extension{
				{Invoked: at(15), Returned: at(17), TTL: 5 * ms},
				{Invoked: at(18), TTL: 7 * ms},
				{Invoked: at(19), TTL: 8 * ms},
			},
		},
	}
	if diff := cmp.Diff(want, Holds(events)); diff != "" {
		t.Errorf("holds (-want +got):\n%s", diff)
	}
}
