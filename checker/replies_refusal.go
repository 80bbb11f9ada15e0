package checker

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// refusedOwn returns the first refusal of an acquire of each key that is untrue: "taken", where
// nobody else can have had the key. What the refused call met there then is its own: a command
// that was sent twice (P26).
//
// Nobody else can have had a key if every attempt before was refused or had its release
// accepted, and nobody else called or waited. A lease that ought to have run out does not
// count: what is left of it answers with truth. Should a release have said "done" and
// deleted nothing, one of the two answers was untrue.
//
// It accuses nobody once a fault of a server was in force, as what a server forgets or brings
// back is not known; nor after a call on the key that one of a client had hit: what that kept
// from a server may be there still, or come late. A fault that hit the refused call alone
// excuses nothing, as no network makes a holder. After the first untrue refusal of a key
// nobody knows what is there.
func refusedOwn(rec *record, opt Options) (found []*conflict) {
	byKey := make(map[string]*supply)
	all := make(map[string][]histories.Op) // calls on the lock
	for _, o := range rec.calls {
		key := o.Invoke.Key
		switch o.Invoke.F {
		case histories.Acquire:
			if o.Complete.Invalid() {
				continue
			}
			if byKey[key] == nil {
				byKey[key] = &supply{}
			}
			byKey[key].calls = append(byKey[key].calls, o)
			byKey[key].lease = max(byKey[key].lease, o.Invoke.TTL)
		case histories.Release, histories.Extend:
		default:
			continue
		}
		all[key] = append(all[key], o)
	}
	for _, h := range rec.Holds {
		taken := taking{span{at(h.Invoked.Event), never}, h}
		if r, ok := accepted(h); ok {
			taken.to = at(r.Returned.Event)
		}
		byKey[h.Key].taken = append(byKey[h.Key].taken, taken)
	}

	for _, key := range sortedKeys(byKey) {
		s := byKey[key]
		s.sick = []span{{firstDoubt(rec, all[key], opt.clientFaults()), never}}
		for i, free := range s.free(rec, opt.slack()) {
			if o := s.calls[i]; free && o.Complete.Taken() {
				found = append(found, &conflict{
					witness: []int{o.Invoke.Index, o.Complete.Index},
					story: fmt.Sprintf("%s was told at %s that %s is taken, when nobody else can have had it: %s.",
						histories.WorkerName(o.Invoke.Worker), seconds(o.Complete.Time), key, s.since(o)),
				})
				break
			}
		}
	}
	return found
}

// firstDoubt is from when on a fault may have made servers hold something else than the calls
// on a key tell. The calls come in order.
func firstDoubt(rec *record, calls []histories.Op, harmless []histories.F) rank {
	doubt := never
	var clients []span // faults
	for _, f := range rec.Faults {
		s := span{at(f.Invoke.Index), never}
		if !slices.Contains(harmless, f.Invoke.F) {
			doubt = min(doubt, s.from)
			continue
		}
		if healed(f) {
			s.to = at(f.Complete.Index)
		}
		clients = append(clients, s)
	}
	var latest rank // end of the faults that began before the call ended
	for _, o := range calls {
		call := rec.calling(o)
		for len(clients) > 0 && clients[0].from < call.to {
			latest, clients = max(latest, clients[0].to), clients[1:]
		}
		if latest > call.from {
			return min(doubt, call.to)
		}
	}
	return doubt
}
