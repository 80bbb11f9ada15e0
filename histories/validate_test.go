package histories

import "testing"

func TestValidateAccepts(t *testing.T) {
	var b builder
	a, c := b.client(0, 0), b.client(1, 1)
	a.attempt, c.attempt = 1, 2
	b.add(Event{Process: Nemesis, Type: Invoke, F: "kill", Node: "redis-1"})
	a.call(Acquire, OK)
	c.call(Acquire, Fail)
	c.call(Release, Fail) // clean-up of a refused attempt
	a.call(Read, OK)
	a.call(Extend, OK)
	a.call(Write, Info)
	again := b.client(2, 0) // worker 0 goes on, with its attempt
	again.attempt = 1
	again.on(Info, Lost)
	again.call(Release, Fail)
	again.attempt = 3
	again.on(Invoke, Acquire)
	again.on(Info, Waited)
	again.on(Info, Abandon)
	b.add(Event{Process: 1, Worker: 1, Type: Info, F: Crash})
	b.add(Event{Process: Nemesis, Type: OK, F: "kill", Node: "redis-1"})
	b.add(Event{Process: Nemesis, Type: Info, F: Audit, Key: "orders/42"})

	for name, events := range map[string][]Event{"empty": nil, "mixed": b.events, "sections": sections(50)} {
		if err := Validate(events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateViolations(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(b *builder) // two sections: attempt 1 by worker 0, attempt 2 by worker 1, 16 events
		want  string
	}{
		{"waited without an attempt", func(b *builder) {
			b.client(5, 5).on(Info, Waited)
		}, "event 16: waited has no attempt, want that of the acquire it belongs to"},
		{"increment without an attempt", func(b *builder) {
			b.client(5, 5).on(Invoke, Incr)
		}, "event 16: incr has no attempt, want that of the acquire it belongs to"},
		{"draw of another's attempt", func(b *builder) {
			c := b.client(5, 5)
			c.attempt = 1
			c.on(Invoke, Draw)
		}, "event 16: draw by worker 5 carries attempt 1, which worker 0 acquired (event 0)"},
		{"index gap", func(b *builder) {
			for i := 5; i < len(b.events); i++ {
				b.events[i].Index++
			}
		}, "event 6: index is 6, want 5: indexes count from 0 without gaps"},
		{"index from 1", func(b *builder) {
			for i := range b.events {
				b.events[i].Index++
			}
		}, "event 1: index is 1, want 0: indexes count from 0 without gaps"},
		{"index twice", func(b *builder) {
			for i := 5; i < len(b.events); i++ {
				b.events[i].Index--
			}
		}, "event 4: index is 4, want 5: indexes count from 0 without gaps"},
		{"time goes back", func(b *builder) { b.events[5].Time = 3_999_999 },
			"event 5: time is 3999999 ns, before the 4000000 ns of the event before it"},
		{"time before the run", func(b *builder) { b.events[0].Time = -1 },
			"event 0: time is -1 ns, before the 0 ns of the event before it"},
		{"no attempt", func(b *builder) { b.client(9, 9).call(Acquire, OK) },
			"event 16: acquire has no attempt, want a number of its own"},
		{"attempt twice", func(b *builder) {
			c := b.client(0, 0)
			c.attempt = 1
			c.call(Acquire, OK)
		}, "event 16: acquire has attempt 1, which the acquire of event 0 used before"},
		{"process changes hands", func(b *builder) { b.add(Event{Process: 0, Worker: 1, Type: Info, F: Crash}) },
			"event 16: process 0 belongs to worker 0, found worker 1"},
		{"completion by another worker", func(b *builder) { b.events[3].Worker = 7 },
			"event 3: process 0 belongs to worker 0, found worker 7"},
		{"write without an attempt", func(b *builder) { b.client(0, 0).call(Write, OK) },
			"event 16: write has no attempt, want that of the acquire it belongs to"},
		{"read of an attempt nobody has", func(b *builder) {
			c := b.client(0, 0)
			c.attempt = 99
			c.call(Read, OK)
		}, "event 16: read carries attempt 99, which no acquire before it has"},
		{"release before its acquire", func(b *builder) {
			c := b.client(0, 0)
			c.attempt = 3
			c.call(Release, OK)
			c.call(Acquire, OK)
		}, "event 16: release carries attempt 3, which no acquire before it has"},
		{"extend of another worker's attempt", func(b *builder) {
			c := b.client(0, 0)
			c.attempt = 2
			c.call(Extend, OK)
		}, "event 16: extend by worker 0 carries attempt 2, which worker 1 acquired (event 8)"},
		{"lost without an attempt", func(b *builder) { b.client(0, 0).on(Info, Lost) },
			"event 16: lost has no attempt, want that of the acquire it belongs to"},
		{"release of another key", func(b *builder) {
			e := Event{Process: 0, Type: Invoke, F: Release, Key: "other", Attempt: 1}
			b.add(e)
			b.add(with(e, OK))
		}, `event 16: release of "other" carries attempt 1, whose acquire (event 0) was of "orders/42"`},
		{"two at once", func(b *builder) {
			b.events[5].Time = 0
			b.client(9, 9).call(Acquire, OK)
		}, "event 5: time is 0 ns, before the 4000000 ns of the event before it\nevent 16: acquire has no attempt, want a number of its own"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := builder{events: sections(2)}
			tt.spoil(&b)
			wantErr(t, Validate(b.events), tt.want)
		})
	}
}
