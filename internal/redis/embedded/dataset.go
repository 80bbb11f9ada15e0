package embedded

import (
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// dataset is everything a server holds, with absolute expiries, as Redis itself
// replicates them since version 7. Scripts are not in it, and the libraries of functions are.
type dataset struct {
	keys      map[string]entry
	libraries libraries
}

type entry struct {
	kind    string
	str     string
	fields  map[string]string
	ends    map[string]time.Time // of those fields that have one
	list    []string
	scores  map[string]float64
	expires time.Time // zero: never
}

// gone reports whether the entry has ended by now: a hash ends with the last of its fields.
func (e entry) gone(now time.Time) bool {
	if !e.expires.IsZero() && !e.expires.After(now) {
		return true
	}
	if len(e.ends) == 0 || len(e.ends) < len(e.fields) {
		return false
	}
	for _, end := range e.ends {
		if end.After(now) {
			return false
		}
	}
	return true
}

// snapshot copies what the node holds, whose server is m. The server's clock moves to the node's:
// what is left of a TTL is counted from there.
func (n *node) snapshot(m *miniredis.Miniredis) dataset {
	return dataset{keys: snapshot(m, n.now()), libraries: n.code().functions.all()}
}

// restore replaces what the node holds, whose server is m.
func (n *node) restore(m *miniredis.Miniredis, data dataset) {
	restore(m, data.keys, n.now())
	n.code().functions.set(data.libraries)
}

// snapshot copies the keys of m. now is by m's own clock, which moves to it.
func snapshot(m *miniredis.Miniredis, now time.Time) map[string]entry {
	m.SetTime(now)
	data := map[string]entry{}
	for _, k := range m.Keys() {
		e := entry{kind: m.Type(k)}
		if ttl := m.TTL(k); ttl > 0 {
			e.expires = now.Add(ttl)
		}
		switch e.kind {
		case "string":
			e.str, _ = m.Get(k)
		case "hash":
			e.fields = map[string]string{}
			fields, _ := m.HKeys(k)
			for _, f := range fields {
				e.fields[f] = m.HGet(k, f)
			}
			left, _ := fieldTTLs(m, k)
			e.ends = map[string]time.Time{}
			for f, ttl := range left {
				e.ends[f] = now.Add(ttl)
			}
		case "list":
			list, _ := m.List(k)
			e.list = slices.Clone(list) // it is the server's own
		case "set":
			e.list, _ = m.Members(k)
		case "zset":
			e.scores = map[string]float64{} // SortedSet would give the server's own
			members, _ := m.ZMembers(k)
			for _, member := range members {
				e.scores[member], _ = m.ZScore(k, member)
			}
		}
		data[k] = e
	}
	return data
}

// restore replaces the keys of m. now is by m's own clock, which moves to it.
func restore(m *miniredis.Miniredis, data map[string]entry, now time.Time) {
	m.SetTime(now)
	m.FlushAll()
	for k, e := range data {
		if e.gone(now) {
			continue
		}
		switch e.kind {
		case "string":
			_ = m.Set(k, e.str) // fails only for a key of another type, and there is none
		case "hash":
			for f, v := range e.fields {
				switch end, ends := e.ends[f]; {
				case !ends:
					m.HSet(k, f, v)
				case end.After(now):
					m.HSetEX(k, end.Sub(now), f, v)
				}
			}
		case "list":
			_, _ = m.RPush(k, e.list...)
		case "set":
			_, _ = m.SAdd(k, e.list...)
		case "zset":
			for member, score := range e.scores {
				_, _ = m.ZAdd(k, score, member)
			}
		}
		if !e.expires.IsZero() {
			m.SetTTL(k, e.expires.Sub(now))
		}
	}
}
