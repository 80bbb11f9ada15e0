package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/story"
)

// A held is what a server held for an owner, as far as the exchanges tell.
type held struct {
	node, key, owner, token string
	from, to                time.Duration
	expires                 time.Duration // 0: never, or nobody knows
	end                     string        // why it ended; empty: it did not
	since                   string        // the fault since which it is gone, for all that is known
	by                      string        // who ended it, if it was a client
	unsure                  bool          // when it ended, or whether it began, is not known
	script                  bool          // told by what a script answered, not by a command that is known
	event                   int           // of the call that took it; -1: none
	seen                    time.Duration // last sign of it
}

// A ledger follows what servers hold by the exchanges of the whole run. What exchanges do not
// tell it does not guess: it says that it is not known.
type ledger struct {
	in     language.Language
	keys   map[string]bool
	calls  map[string][]*histories.Op // of each client, in order
	next   map[string]int
	faults []*histories.Op // in order
	now    map[string][]*held
	all    []*held
	queued map[string][]string // DEL between MULTI and EXEC, by connection
}

// follow reads the exchanges of a run, which are in order, and what audits found.
func follow(exchanges []histories.Exchange, ops []histories.Op, audits []histories.Event, keys map[string]bool, in language.Language) []*held {
	g := &ledger{in: in, keys: keys, calls: map[string][]*histories.Op{}, next: map[string]int{}, now: map[string][]*held{}, queued: map[string][]string{}}
	for i := range ops {
		o := &ops[i]
		if o.Fault() {
			g.faults = append(g.faults, o)
			continue
		}
		who := histories.WorkerName(o.Invoke.Worker)
		g.calls[who] = append(g.calls[who], o)
	}
	// In the order of execution: a command that was held took effect just before its reply.
	order := slices.Clone(exchanges)
	slices.SortStableFunc(order, func(a, b histories.Exchange) int { return cmp.Compare(executed(a), executed(b)) })
	struck := 0
	for _, x := range order {
		if x.Node == story.Register || story.Setup(x) {
			continue
		}
		for ; struck < len(g.faults) && g.faults[struck].Invoke.Time <= executed(x); struck++ {
			g.strike(g.faults[struck])
		}
		for ; len(audits) > 0 && audits[0].Time < executed(x); audits = audits[1:] {
			g.audit(audits[0])
		}
		g.read(x)
	}
	for _, e := range audits {
		g.audit(e)
	}
	for ; struck < len(g.faults); struck++ {
		g.strike(g.faults[struck])
	}
	return g.all
}

// audit takes what a server was found to hold. Its value is whole, and those of exchanges are
// shortened.
func (g *ledger) audit(e histories.Event) {
	for _, h := range g.now[e.Node+"\x00"+e.Key] {
		start, short := strings.CutSuffix(h.token, "…")
		if h.end != "" || !short || len(start) < 4 || !strings.HasPrefix(e.Value, start) {
			continue
		}
		h.unsure, h.seen, h.expires = false, e.Time, 0
		if e.TTL > 0 {
			h.expires = e.Time + e.TTL
		}
	}
}

// executed is when a server executed a command, as nearly as the record tells.
func executed(x histories.Exchange) time.Duration {
	if (x.Note == histories.CommandHeld || x.Note == histories.CommandLetGo) && x.Replied > 0 {
		return x.Replied
	}
	return x.Sent
}

// call is the call of its client that sent x; ok is false if none was under way.
func (g *ledger) call(x histories.Exchange) (o *histories.Op, under bool) {
	calls, i := g.calls[x.Client], g.next[x.Client]
	for i+1 < len(calls) && calls[i+1].Invoke.Time <= x.Sent {
		i++
	}
	g.next[x.Client] = i
	for ; i >= 0 && i < len(calls); i-- { // a held command may be out of order
		o = calls[i]
		if o.Invoke.Time <= x.Sent {
			return o, !o.Done || x.Sent < o.Complete.Time
		}
	}
	return nil, false
}

// strike ends what a fault certainly ends.
func (g *ledger) strike(o *histories.Op) {
	if o.Done && o.Complete.Type != histories.OK {
		return
	}
	at := o.Invoke.Time
	f := string(o.Invoke.F)
	switch {
	case f == "kill", f == "failover", o.Done && (f == "restart" || f == "restart-delayed"): // which come back empty
		g.wipe(o.Invoke.Node, at, g.in.Say("the server died"), false)
	case strings.HasPrefix(f, "restart"):
		g.wipe(o.Invoke.Node, at, g.in.Say("the server died, and what it came back with is not known"), true)
	case f == "flush":
		g.wipe(o.Invoke.Node, at, g.in.Say("flushed"), false)
	}
}

func (g *ledger) wipe(node string, at time.Duration, why string, unsure bool) {
	for id, all := range g.now {
		for _, h := range all {
			if h.node == node {
				g.close(h, at, why, unsure)
			}
		}
		if len(all) > 0 && all[0].node == node {
			delete(g.now, id)
		}
	}
}

func (g *ledger) close(h *held, at time.Duration, why string, unsure bool) {
	if h.end != "" {
		return
	}
	if h.expires > 0 && h.expires <= at {
		at, why, unsure = h.expires, expired, h.unsure
	}
	h.to, h.end, h.unsure = at, why, h.unsure || unsure
}

// expired is why a hold ended whose time to live was over.
const expired = "its time to live ended"

// gone ends what is seen not to be there any more: by its time to live, by a fault that hit the
// server meanwhile, or nobody knows how.
func (g *ledger) gone(id string, seen time.Duration) {
	for _, h := range g.now[id] {
		if h.end != "" {
			continue
		}
		if h.expires > 0 && h.expires <= seen {
			g.close(h, h.expires, "", false)
			continue
		}
		at, why, since := seen, g.in.Say("gone, nobody knows since when"), ""
		for _, o := range g.faults {
			if o.Invoke.Time > h.from && o.Invoke.Time <= seen && (o.Invoke.Node == h.node || o.Invoke.Node == "") {
				at, since = o.Invoke.Time, brief(string(o.Invoke.F), 24)
				why = g.in.Sayf("gone since %s, as far as can be seen", since)
			}
		}
		h.to, h.end, h.since, h.unsure = at, why, since, true
	}
	delete(g.now, id)
}

// release ends the hold of a token, or, if none has it, that of the client, or the only one.
func (g *ledger) release(id string, at time.Duration, token, client string, unsure bool) {
	all := g.now[id]
	i := slices.IndexFunc(all, func(h *held) bool { return token != "" && h.token == token && h.owner == client })
	if i < 0 {
		i = slices.IndexFunc(all, func(h *held) bool { return token != "" && h.token == token })
	}
	if i < 0 {
		i = slices.IndexFunc(all, func(h *held) bool { return h.owner == client })
	}
	if i < 0 && len(all) == 1 && !unsure {
		i, unsure = 0, true // whose else? But nobody saw it
	}
	if i < 0 {
		return
	}
	g.close(all[i], at, g.in.Sayf("released by %s", client), unsure)
	if all[i].end != expired {
		all[i].by = client
	}
	g.now[id] = slices.Delete(slices.Clone(all), i, i+1)
}

// remove ends all that is held at once, by what a client did: how says that with %s for its name.
func (g *ledger) remove(id string, at time.Duration, how, client string) {
	for _, h := range g.now[id] {
		g.close(h, at, fmt.Sprintf(how, client), false)
		if h.end != expired {
			h.by = client
		}
	}
	delete(g.now, id)
}

func (g *ledger) take(id string, x histories.Exchange, key, token string, ttl time.Duration, script bool) *held {
	h := &held{node: x.Node, key: key, owner: x.Client, token: token, from: executed(x), seen: executed(x), script: script, event: -1}
	if o, ok := g.call(x); ok {
		h.event = o.Invoke.Index
	}
	if ttl > 0 {
		h.expires = h.from + ttl
	}
	g.now[id] = append(g.now[id], h)
	g.all = append(g.all, h)
	return h
}

// holds reports whether anybody is thought to hold, and has not expired.
func (g *ledger) holds(id string, at time.Duration) bool {
	return slices.ContainsFunc(g.now[id], func(h *held) bool { return h.end == "" && (h.expires == 0 || h.expires > at) })
}

// owns reports whether a client's token is one of those that are held.
func (g *ledger) owns(id, client, token string) bool {
	return slices.ContainsFunc(g.now[id], func(h *held) bool { return h.end == "" && h.owner == client && h.token == token && token != "" })
}

// sign says that somebody was seen to hold.
func (g *ledger) sign(id string, at time.Duration) {
	if all := g.now[id]; len(all) == 1 {
		all[0].seen = at
	}
}

// prolong moves the end of the lease of a token's holder, or of all.
func (g *ledger) prolong(id string, at time.Duration, token string, ttl time.Duration) bool {
	found := false
	for _, h := range g.now[id] {
		if (token == "" || h.token == token) && h.end == "" && ttl > 0 {
			h.expires, h.seen, found = at+ttl, at, true
		}
	}
	return found
}

// reenter prolongs what its holder takes again.
func (g *ledger) reenter(id string, at time.Duration, token, owner string, ttl time.Duration) bool {
	for _, h := range g.now[id] {
		if h.owner == owner && h.token == token && h.end == "" {
			h.expires, h.seen = max(h.expires, at+ttl), at
			return true
		}
	}
	return false
}
