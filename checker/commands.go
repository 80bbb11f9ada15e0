package checker

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/effects"
	"github.com/lockbench/lockbench/internal/words"
)

// Commands are what crossed the wire in a run, as a witness of the judges: what effects.Of
// tells of them. They say which of several suspects ended a hold, and they acquit; what they do
// not tell decides nothing. A nil *Commands knows nothing. It is safe for concurrent use.
type Commands struct {
	exchanges []histories.Exchange
	keptAs    func(key string) []histories.Place
	register  string

	read  sync.Once
	byKey map[histories.Place][]effects.Effect // in the order of execution
}

// NewCommands returns the commands of a run, in the order of histories.Exchange.Compare. keptAs
// tells where a lock's servers keep the lock on a key; nil means under its own name in database
// 0. What was sent to the node named register is left out.
func NewCommands(exchanges []histories.Exchange, keptAs func(key string) []histories.Place, register string) *Commands {
	if keptAs == nil {
		keptAs = func(key string) []histories.Place { return []histories.Place{{Key: key}} }
	}
	return &Commands{exchanges: exchanges, keptAs: keptAs, register: register}
}

// on are the effects on a lock's key, on all servers.
func (c *Commands) on(key string) []effects.Effect {
	if c == nil {
		return nil
	}
	c.read.Do(func() {
		c.byKey = make(map[histories.Place][]effects.Effect)
		database := 0
		if kept := c.keptAs(key); len(kept) > 0 {
			database = kept[0].DB
		}
		for _, e := range effects.Of(c.exchanges, database) {
			if e.Node != c.register {
				c.byKey[e.Place] = append(c.byKey[e.Place], e)
			}
		}
	})
	places := c.keptAs(key)
	if len(places) == 1 {
		return c.byKey[places[0]]
	}
	var all []effects.Effect
	for _, p := range places {
		all = append(all, c.byKey[p]...)
	}
	slices.SortStableFunc(all, func(a, b effects.Effect) int { return int(min(max(a.From-b.From, -1), 1)) })
	return all
}

// taken are the exchanges by which a hold took its key: those of its acquire.
func taken(all []effects.Effect, h *histories.Hold) map[int]bool {
	made := make(map[int]bool)
	for _, e := range all {
		if (e.Kind == effects.Takes || e.Kind == effects.Overwrites) && e.Client == histories.WorkerName(h.Worker) &&
			e.From >= h.Invoked.Time && e.From <= h.Returned.Time {
			made[e.Exchange] = true
		}
	}
	return made
}

// A testimony is what the wire tells of the end of a hold.
type testimony struct {
	by      *histories.Op // of the suspects the one that did it; nil: the wire does not tell
	cleared bool          // none of them did
	how     string        // the command that did it, for the story
}

// ended tells who of the suspects removed the key of b, wrote over it or shortened its time to
// live, until it was seen to be gone.
func (c *Commands) ended(b *histories.Hold, seen time.Duration, suspects []*histories.Op) testimony {
	all := c.on(b.Key)
	mine := taken(all, b)
	if len(mine) == 0 {
		return testimony{}
	}
	known := true
	for _, e := range all {
		if e.To < b.Invoked.Time || e.From > seen || mine[e.Exchange] {
			continue
		}
		ends := e.Kind == effects.Frees || e.Kind == effects.Overwrites || shortens(e, b)
		switch {
		case ends && mine[e.Of]:
			if i := slices.IndexFunc(suspects, func(o *histories.Op) bool { return sentBy(o, e) }); i >= 0 {
				return testimony{by: suspects[i], how: fmt.Sprintf(" with %s → %s", c.exchanges[e.Exchange].Command, reply(c.exchanges[e.Exchange]))}
			}
		case e.Kind == effects.Unclear, ends && e.Of == effects.NotKnown:
			known = false
		}
	}
	return testimony{cleared: known}
}

// reached reports whether one of the suspects sent a command that may have ended b when b had been granted.
func (c *Commands) reached(b *histories.Hold, seen time.Duration, suspects []*histories.Op) bool {
	return slices.ContainsFunc(c.on(b.Key), func(e effects.Effect) bool {
		ends := e.Kind == effects.Frees || e.Kind == effects.Overwrites || e.Kind == effects.Unclear || shortens(e, b)
		return ends && e.From >= b.Returned.Time && e.From <= seen && slices.ContainsFunc(suspects, func(o *histories.Op) bool { return sentBy(o, e) })
	})
}

// shortens reports whether an effect left the key of h a shorter time to live than its lease.
func shortens(e effects.Effect, h *histories.Hold) bool {
	return e.Kind == effects.Extends && e.TTL > 0 && h.TTL > 0 && e.To+e.TTL < h.Invoked.Time+h.TTL
}

// sentBy reports whether a command was sent by a call.
func sentBy(o *histories.Op, e effects.Effect) bool {
	return e.Client == histories.WorkerName(o.Invoke.Worker) && o.Invoke.Time <= e.From && (!o.Done || e.From <= o.Complete.Time)
}

func reply(x histories.Exchange) string {
	switch {
	case x.Reply != "":
		return x.Reply
	case x.Answer != "":
		return x.Answer + " (its client did not get it)"
	}
	return "no reply"
}

// ranOut reports whether the key of h had run out by the time t, because it was given less time to
// live than was asked for: in another unit, for example.
func (c *Commands) ranOut(h *histories.Hold, t time.Duration) bool {
	all := c.on(h.Key)
	mine := taken(all, h)
	ends := make(map[string]time.Duration) // by node
	for _, e := range all {
		if e.From > t || !mine[e.Exchange] && (e.Kind != effects.Extends || !mine[e.Of]) {
			continue
		}
		if e.TTL <= 0 || e.To > t {
			return false // it has no end, or nobody knows
		}
		ends[e.Node] = e.To + e.TTL + e.TTL/100 + 2*time.Millisecond
	}
	for _, end := range ends {
		if end >= t {
			return false
		}
	}
	return len(ends) > 0
}

// takenAway says whether, by the time t, others had written over the key of h, or removed it, on every
// server that it was on: a call that was refused may have written, too.
func (c *Commands) takenAway(h *histories.Hold, t time.Duration) bool {
	all := c.on(h.Key)
	mine := taken(all, h)
	on := make(map[string]bool) // by node, whether it is the holder's there
	for _, e := range all {
		switch {
		case e.From > t:
		case mine[e.Exchange]:
			on[e.Node] = true
		case mine[e.Of] && e.Client != histories.WorkerName(h.Worker) && (e.Kind == effects.Frees || e.Kind == effects.Overwrites):
			on[e.Node] = false
		}
	}
	for _, still := range on {
		if still {
			return false
		}
	}
	return len(on) > 0
}

// left tells who left a key behind on a node, or on any if it is empty: by which command it was
// last made or prolonged before a time. It is "" if that is not known.
func (c *Commands) left(key, node string, by time.Duration, holds []*histories.Hold) string {
	var last *effects.Effect
	for _, e := range c.on(key) {
		if e.From > by || node != "" && e.Node != node {
			continue
		}
		switch {
		case e.Kind.Changes():
			last = &e
		case e.Kind == effects.Unclear:
			last = nil
		}
	}
	if last == nil || last.Kind == effects.Frees {
		return ""
	}
	did := "made it"
	switch last.Kind {
	case effects.Extends:
		did = "prolonged it"
	case effects.Overwrites:
		did = "wrote over it"
	}
	x := c.exchanges[last.Exchange]
	text := fmt.Sprintf("It was left behind by %s, whose %s → %s %s last, at %s", last.Client, x.Command, reply(x), did, words.Seconds(last.From))
	for _, h := range slices.Backward(holds) {
		if histories.WorkerName(h.Worker) != last.Client || h.Invoked.Time > last.From {
			continue
		}
		for _, r := range h.Releases {
			if r.Returned != (histories.Instant{}) && r.Returned.Time < last.From {
				return text + fmt.Sprintf(", after its release had returned at %s.", words.Seconds(r.Returned.Time))
			}
		}
		if h.End == histories.Crash && h.Ended.Time <= last.From {
			return text + fmt.Sprintf(", after it had crashed at %s.", words.Seconds(h.Ended.Time))
		}
		break
	}
	return text + "."
}

// underWay is for how long, between two times, a client had commands under way that do not block
// on the server.
func (c *Commands) underWay(worker int, from, to time.Duration) (busy time.Duration) {
	if c == nil {
		return 0
	}
	until := from
	for _, x := range c.exchanges { // in the order in which they were sent
		if x.Sent >= to {
			break
		}
		if x.Client != histories.WorkerName(worker) || x.Node == c.register || x.Sent < from || blocks(x) {
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

// blocks reports whether a command may wait on the server, as BLPOP does.
func blocks(x histories.Exchange) bool {
	name, _, _ := strings.Cut(x.Command, " ")
	switch name {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP", "WAIT", "WAITAOF",
		"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "CLIENT":
		return true
	}
	return false
}
