package histories

import "time"

// sections returns a history of n critical sections, one after the other: acquire,
// read, write, release.
func sections(n int) []Event {
	var b builder
	for i := range n {
		c := b.client(i%5, i%5)
		c.attempt = uint64(i + 1)
		c.call(Acquire, OK)
		c.call(Read, OK)
		c.call(Write, OK)
		c.call(Release, OK)
	}
	return b.events
}

// builder writes histories by hand, one event per millisecond.
type builder struct{ events []Event }

func (b *builder) add(e Event) Event {
	e.Index = len(b.events)
	e.Time = time.Duration(e.Index) * time.Millisecond
	b.events = append(b.events, e)
	return e
}

// caller is one process of a builder's history.
type caller struct {
	b               *builder
	process, worker int
	attempt         uint64
}

func (b *builder) client(process, worker int) *caller {
	return &caller{b: b, process: process, worker: worker}
}

func (c *caller) on(t Type, f F) Event {
	e := Event{Process: c.process, Worker: c.worker, Type: t, F: f, Key: "orders/42", Attempt: c.attempt}
	if f == Acquire && t == Invoke {
		e.TTL = 3 * time.Second
	}
	return c.b.add(e)
}

func (c *caller) call(f F, outcome Type) {
	c.on(Invoke, f)
	c.on(outcome, f)
}
