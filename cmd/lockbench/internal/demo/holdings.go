package demo

import (
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// holdings tells what the lock's servers hold. Servers that hold the same are told together.
func (t *teller) holdings(res harness.Result, s scene) {
	type group struct {
		nodes []string
		text  string
		least time.Duration // of the TTLs that are counted down
		most  time.Duration
	}
	var groups []group
	servers := 0
	for _, n := range s.nodes {
		if n.Role == cluster.Register {
			continue
		}
		servers++
		text, ttl := t.content(res, n, s.exchanges)
		name := n.Name
		if n.Primary && n.Role == cluster.Replica {
			name = t.lang.text("holds.promoted", "node", name)
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.text == text })
		if i < 0 {
			groups = append(groups, group{text: text, least: ttl, most: ttl})
			i = len(groups) - 1
		}
		g := &groups[i]
		g.nodes, g.least, g.most = append(g.nodes, name), min(g.least, ttl), max(g.most, ttl)
	}
	label := t.lang.text("row.redis")
	for _, g := range groups {
		text := strings.ReplaceAll(g.text, ttlHere, t.ttl(g.least, g.most))
		if servers > 1 {
			text = together(g.nodes) + ": " + text
		}
		t.row(label, text, plain)
		label = ""
	}
}

// ttlHere stands for a TTL in a content, so that contents that differ in that alone are the same.
const ttlHere = "{ttl}"

// content is what a server holds under the lock's keys, and the TTL that goes in the place
// of ttlHere.
func (t *teller) content(res harness.Result, n harness.NodeState, exchanges []histories.Exchange) (string, time.Duration) {
	switch {
	case !n.Alive:
		return t.lang.text("holds.dead"), 0
	case n.Silent:
		return t.lang.text("holds.silent"), 0
	}
	var parts []string
	ttl := time.Duration(0)
	for _, k := range n.Keys {
		if !k.Exists {
			continue
		}
		part := k.Key + " = " + t.value(k, exchanges)
		switch {
		case k.TTL != histories.NoTTL:
			part, ttl = part+ttlHere, k.TTL
		case k.Key == res.Config.Key: // others, such as a counter of tokens, are there to stay
			part += t.lang.text("holds.forever")
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return t.lang.text("holds.nothing"), 0
	}
	return strings.Join(parts, "; "), ttl
}

func (t *teller) ttl(least, most time.Duration) string {
	if most-least < 10*time.Millisecond {
		return t.lang.text("holds.ttl", "ttl", seconds(least))
	}
	return t.lang.text("holds.ttl", "ttl", seconds(least)+"–"+seconds(most))
}

// value is what is under a key, with whose it is.
func (t *teller) value(k cluster.KeyState, exchanges []histories.Exchange) string {
	switch k.Type {
	case "string":
		return t.signed(k.Value, exchanges)
	case "hash":
		var fields []string
		for _, f := range k.Fields {
			fields = append(fields, t.signed(f.Name, exchanges)+": "+t.signed(f.Value, exchanges))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case "zset": // scores are deadlines
		var members []string
		for _, f := range k.Fields {
			members = append(members, t.signed(f.Name, exchanges))
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return k.Type
}

// signed is a value as commands show it, with the client that had sent it by then, if it was one alone.
func (t *teller) signed(value string, exchanges []histories.Exchange) string {
	value = wire.Abbreviate(value)
	client, several := "", false
	for _, x := range exchanges {
		if words := strings.Fields(x.Command); len(words) > 2 && slices.Contains(words[2:], value) {
			several = several || client != "" && client != x.Client
			client = x.Client
		}
	}
	if client == "" || several || len(value) < 4 { // a small number is nobody's
		return value
	}
	return t.lang.text("holds.whose", "value", value, "client", client)
}
