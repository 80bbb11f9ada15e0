package certificate

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
)

// A wire is what crossed the wire in a run, and what it did to the keys of locks, as package histories reads it.
type wire struct {
	in  *reading
	all []histories.Exchange
	did map[histories.Place][]effects.Effect // on all nodes but the one of the resource
}

// newWire reads commands.
func newWire(t *tables, in *reading) (*wire, error) {
	w := &wire{in: in, did: make(map[histories.Place][]effects.Effect)}
	var err error
	if w.all, err = histories.ReadExchanges(in, "the commands"); err != nil {
		return w, err
	}
	if !slices.IsSortedFunc(w.all, func(a, b histories.Exchange) int { return cmp.Compare(a.Sent, b.Sent) }) {
		return w, errors.New("they are not in the order in which they were sent")
	}
	database := 0
	for _, k := range t.keys {
		if kept := k.places(); len(kept) > 0 {
			database = kept[0].DB
			break
		}
	}
	for _, e := range effects.Of(w.all, database) {
		if e.Node != t.terms.Register {
			w.did[e.Place] = append(w.did[e.Place], e)
		}
	}
	return w, nil
}

// places are where servers keep the lock on a key.
func (k *table) places() []histories.Place {
	if kept, told := k.terms.Kept[k.key]; told {
		return kept
	}
	return []histories.Place{{Key: k.key}}
}

// on is what was done to the lock on a key, in the order of execution; nothing if nothing is known of the wire.
func (w *wire) on(k *table) (all []effects.Effect) {
	if w == nil {
		return nil
	}
	for _, p := range k.places() {
		all = append(all, w.did[p]...)
	}
	slices.SortStableFunc(all, func(a, b effects.Effect) int { return cmp.Compare(a.From, b.From) })
	return all
}

// sentBy reports whether a call sent a command.
func sentBy(o *op, e *effects.Effect) bool {
	return e.Client == histories.WorkerName(o.Worker) && e.From >= o.from.time && (o.to.event == pending || e.From <= o.to.time)
}

func sentByAny(calls []*op, e *effects.Effect) *op {
	if i := slices.IndexFunc(calls, func(o *op) bool { return sentBy(o, e) }); i >= 0 {
		return calls[i]
	}
	return nil
}

// taken are the commands by which a hold took its keys.
func taken(done []effects.Effect, h *hold) map[int]bool {
	mine := make(map[int]bool)
	for i := range done {
		if e := &done[i]; (e.Kind == effects.Takes || e.Kind == effects.Overwrites) && sentBy(h.op, e) {
			mine[e.Exchange] = true
		}
	}
	return mine
}

// ends reports whether a command takes from h what it had.
func ends(e *effects.Effect, h *hold) bool {
	shortens := e.Kind == effects.Extends && e.TTL > 0 && h.TTL > 0 && plus(e.To, e.TTL) < plus(h.from.time, h.TTL)
	return e.Kind == effects.Frees || e.Kind == effects.Overwrites || shortens
}

// A testimony is what the wire tells of the end of a hold: who of the suspects did it, and by which command to what
// that had been made by which; or that none of them did.
type testimony struct {
	by          *op
	took, ended int
	cleared     bool
}

// testify tells who of the suspects ended b until it was seen to be gone.
func (w *wire) testify(k *table, b *hold, seen moment, suspects []*op) (t testimony) {
	done := w.on(k)
	mine := taken(done, b)
	t.cleared = len(mine) > 0
	for i := range done {
		e := &done[i]
		if e.To < b.from.time || e.From > seen.time || mine[e.Exchange] {
			continue
		}
		if by := sentByAny(suspects, e); by != nil && ends(e, b) && mine[e.Of] {
			return testimony{by: by, took: e.Of, ended: e.Exchange}
		}
		if e.Kind == effects.Unclear || ends(e, b) && e.Of == effects.NotKnown {
			t.cleared = false
		}
	}
	return t
}

// reached is the first command of one of the suspects that may have ended b when that had been granted.
func (w *wire) reached(k *table, b *hold, seen moment, suspects []*op) (command int, found bool) {
	done := w.on(k)
	i := slices.IndexFunc(done, func(e effects.Effect) bool {
		return (e.Kind == effects.Unclear || ends(&e, b)) && e.From >= b.to.time && e.From <= seen.time && sentByAny(suspects, &e) != nil
	})
	if i < 0 {
		return 0, false
	}
	return done[i].Exchange, true
}

// ranOut reports whether all that h had on servers had run out by a time, as it was given less time to live than was
// asked for.
func (w *wire) ranOut(k *table, h *hold, by time.Duration) bool {
	done := w.on(k)
	mine := taken(done, h)
	over := make(map[string]time.Duration) // by node
	for _, e := range done {
		if e.From > by || !mine[e.Exchange] && (e.Kind != effects.Extends || !mine[e.Of]) {
			continue
		}
		if e.TTL <= 0 || e.To > by {
			return false // it has no end, or nobody knows
		}
		over[e.Node] = plus(e.To, e.TTL+e.TTL/100+2*time.Millisecond)
	}
	for _, end := range over {
		if end >= by {
			return false
		}
	}
	return len(over) > 0
}

// takenAway reports whether others had written over all that h had on servers, or removed it, by a time.
func (w *wire) takenAway(k *table, h *hold, by time.Duration) bool {
	done := w.on(k)
	mine := taken(done, h)
	left := make(map[string]bool) // by node, whether it is still the holder's there
	for i := range done {
		e := &done[i]
		gone := e.Kind == effects.Frees || e.Kind == effects.Overwrites
		switch {
		case e.From > by:
		case mine[e.Exchange]:
			left[e.Node] = true
		case gone && mine[e.Of] && e.Client != histories.WorkerName(h.Worker):
			left[e.Node] = false
		}
	}
	for _, still := range left {
		if still {
			return false
		}
	}
	return len(left) > 0
}

// underWay is for how long, between two times, a client had commands under way that do not block on the server.
func (w *wire) underWay(worker int, register string, from, to time.Duration) (busy time.Duration) {
	until := from
	first, _ := slices.BinarySearchFunc(w.all, from, func(x histories.Exchange, from time.Duration) int { return cmp.Compare(x.Sent, from) })
	for i := range w.all[first:] {
		x := &w.all[first+i]
		if x.Sent >= to {
			break
		}
		if x.Client != histories.WorkerName(worker) || x.Node == register || blocks(x) {
			continue
		}
		end := to
		if x.Replied > 0 {
			end = min(x.Replied, to)
		}
		if end > until {
			busy += end - max(x.Sent, until)
			until = end
		}
	}
	return busy
}

// blocks reports whether a command may wait on the server.
func blocks(x *histories.Exchange) bool {
	name, _, _ := strings.Cut(x.Command, " ")
	switch name {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP", "WAIT", "WAITAOF",
		"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "CLIENT":
		return true
	}
	return false
}
