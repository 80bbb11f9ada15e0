// Package effects derives from the commands of a run what each of them did to which key.
package effects

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// Kind says what a command did to a key.
type Kind uint8

// The kinds of Effect. The zero value is Unclear: what the command did, or whether the server
// executed it at all, cannot be told, and it proves nothing.
const (
	Unclear    Kind = iota
	Looks           // it read the key, and was not to change it
	Refused         // it was to change the key, and changed nothing
	Takes           // there was no such key, and it made it
	Overwrites      // it gave the key a value, whatever was there before
	Extends         // it gave the key that is there another time to live, or counted its holder once more
	Frees           // it removed the key
)

// String returns the kind in lower case.
func (k Kind) String() string {
	names := []string{"unclear", "looks", "refused", "takes", "overwrites", "extends", "frees"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Changes reports whether the key is another one after it.
func (k Kind) Changes() bool { return k >= Takes }

// Whose key it was, if it was no exchange's.
const (
	Nobodys  = -1 // there was none
	NotKnown = -2
)

// An Effect is what one command did to one key of one server.
type Effect struct {
	Exchange int // its index in what Of was given
	Client   string
	Node     string
	histories.Place
	Kind Kind
	// From and To bound when the server executed it. To is at the end of time if the server
	// has not been seen to answer.
	From, To time.Duration
	// Value is what Takes and Overwrites gave the key, or the one field that it has; "" if that is not known.
	Value string
	// TTL is the time to live that Takes, Overwrites and Extends gave the key: histories.NoTTL if it has
	// none, 0 if that is not known.
	TTL time.Duration
	// Of is the exchange that had made the key that was looked at, extended, overwritten or
	// freed: an index as Exchange is, or Nobodys, or NotKnown.
	Of int
}

// Of derives from the commands of a run, in the order of histories.Exchange.Compare, what each of them
// did to which key: from its words, from its reply, and from what the commands before it had
// done. Its result is in the order in which the servers executed them, as far as that is known.
//
// It knows nothing but what crossed the wire. What a server lost or got back by a fault, and
// what the harness wrote on nobody's behalf, is not known: the caller must not rely on Effect.Of
// where such a thing may have happened. Of a script that it does not see through, of a command
// that was not answered and of two whose order cannot be told it claims nothing.
//
// The database is the one that connections had selected before the first command of theirs that was kept, if there were others.
func Of(x []histories.Exchange, database int) []Effect {
	r := newReader(x, database)
	for i := range x {
		r.read(i)
	}
	slices.SortStableFunc(r.acts, func(a, b act) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	type address struct {
		node string
		histories.Place
	}
	byPlace := make(map[address][]act)
	var order []address
	for _, a := range r.acts {
		at := address{a.node, a.place}
		if byPlace[at] == nil {
			order = append(order, at)
		}
		byPlace[at] = append(byPlace[at], a)
	}
	var found []Effect
	for _, at := range order {
		throughOneField(byPlace[at])
		found = append(found, (&slot{known: true}).play(byPlace[at])...) // servers begin empty
	}
	slices.SortStableFunc(found, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Exchange, b.Exchange))
	})
	return found
}
