package sim

import (
	"context"
	"time"
)

// Slots is the number of time slots: the modulus, in nanoseconds, by which sources
// of events are kept apart.
const Slots = 1 << 16

// Source is something that acts by itself: a client, a fault, one direction of a
// connection. Its instants all lie in its own slot.
//
// A Source is also a clock, with Now, Sleep and After, as a client sees it.
type Source struct {
	w    *World
	slot int
}

// Source reserves a slot. Reserve in a fixed order: the order decides the slots.
func (w *World) Source() *Source { return &Source{w: w, slot: w.reserve(1)} }

// reserve takes n neighbouring slots and returns the first.
func (w *World) reserve(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nextSlot+n > Slots {
		w.overflowed = true
		w.nextSlot = 0
	}
	first := w.nextSlot
	w.nextSlot += n
	return first
}

// align rounds an instant up to the slot.
func align(at time.Duration, slot int) time.Duration {
	return at + (time.Duration(slot)-at%Slots+Slots)%Slots
}

// In returns d, lengthened so that its end, counted from now, falls into the slot.
// Use it for the time-outs of contexts.
func (s *Source) In(d time.Duration) time.Duration {
	now := s.w.Now()
	return align(now+d, s.slot) - now
}

// Now is the virtual time of day.
func (s *Source) Now() time.Time {
	s.w.stop()
	return time.Now()
}

// Sleep waits for d, rounded up to the source's slot, or until ctx ends.
func (s *Source) Sleep(ctx context.Context, d time.Duration) error {
	s.w.stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(s.In(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		s.w.acted(s.slot)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// After delivers the time after d, rounded up to the source's slot.
func (s *Source) After(d time.Duration) <-chan time.Time { return time.After(s.In(d)) }
