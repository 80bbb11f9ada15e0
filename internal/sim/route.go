package sim

import (
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// connsPerRoute bounds how many connections of one route have slots of their own.
	connsPerRoute = 16
	minLatency    = 100 * time.Microsecond
	latencySpread = 400 * time.Microsecond
)

// Route is the path from one host to another. It owns the slots of its connections.
type Route struct {
	w        *World
	from, to string
	slot     int

	mu   sync.Mutex
	near [connsPerRoute]*conn // the last connection on each pair of slots
}

// Route reserves the slots of a path. Reserve in a fixed order: the order decides
// the slots.
func (w *World) Route(from, to string) *Route {
	return &Route{w: w, from: from, to: to, slot: w.reserve(2 * connsPerRoute)}
}

// Connect makes the connection of that number, from 1, and returns its end at from and
// its end at to. Each message takes between 0.1 and 0.5 ms one way; messages do not
// overtake each other. The number decides the latencies: number connections in an order
// that does not depend on who of several is faster.
func (r *Route) Connect(number int) (near, far net.Conn) {
	name := fmt.Sprintf("%s→%s#%d", r.from, r.to, number)
	pairOfSlots := number % connsPerRoute
	slot := r.slot + 2*pairOfSlots
	n, f := pair(name, newFlight(r.w, name+">", slot), newFlight(r.w, name+"<", slot+1))

	r.mu.Lock()
	before := r.near[pairOfSlots]
	r.near[pairOfSlots] = n
	r.mu.Unlock()
	if before != nil && !before.in.ended() {
		r.w.mu.Lock()
		r.w.overflowed = true // two living connections share their slots
		r.w.mu.Unlock()
	}
	return n, f
}

// Source acts at the far end of the connection of that number: in the slot in which
// messages arrive there.
func (r *Route) Source(number int) *Source {
	return &Source{w: r.w, slot: r.slot + 2*(number%connsPerRoute)}
}

// NearSource acts at the near end of the connection of that number: in the slot in which
// messages arrive there.
func (r *Route) NearSource(number int) *Source {
	return &Source{w: r.w, slot: r.slot + 2*(number%connsPerRoute) + 1}
}

// flight times the messages of one direction of a connection.
type flight struct {
	w    *World
	slot int
	id   uint64
	sent uint64
	last time.Duration
}

func newFlight(w *World, name string, slot int) *flight {
	id := w.seed
	for _, b := range []byte(name) {
		id = mix(id ^ uint64(b))
	}
	return &flight{w: w, slot: slot, id: id}
}

// arrival is when a message sent now arrives. The stream's lock guards it.
func (f *flight) arrival() time.Time {
	f.sent++
	latency := minLatency + time.Duration(mix(f.id+f.sent)%uint64(latencySpread))
	at := f.w.Now() + latency
	if at <= f.last {
		at = f.last + 1
	}
	f.last = align(at, f.slot)
	return f.w.start.Add(f.last)
}

// mix is the finaliser of SplitMix64: every bit of the result depends on every bit
// of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
