package checker

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// refusedOwn returns the first refusal of an acquire that is untrue: "taken", where
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
func (j *replies) refusedOwn(s *stretch) *conflict {
	if len(s.ghosts) > 0 || j.obscure[s.key] {
		return nil
	}
	all := supply{stretch: s, asked: s.acquires(), taken: s.past(j.opt.slack())}
	for _, o := range all.asked {
		all.lease = max(all.lease, o.Invoke.TTL)
	}
	for _, h := range s.holds {
		taken := taking{span{at(h.Invoked.Event), never}, h}
		if r, ok := accepted(h); ok {
			taken.to = at(r.Returned.Event)
		}
		all.taken = append(all.taken, taken)
	}
	doubt := firstDoubt(s, j.opt.clientFaults())
	all.sick = []span{{doubt, never}}
	j.obscure[s.key] = doubt < at(s.to)
	for i, free := range all.free(j.opt.slack()) {
		if o := all.asked[i]; free && o.Complete.Taken() {
			j.obscure[s.key] = true
			return &conflict{
				witness: []int{o.Invoke.Index, o.Complete.Index},
				story: fmt.Sprintf("%s was told at %s that %s is taken, when nobody else can have had it: %s.",
					histories.WorkerName(o.Invoke.Worker), words.Seconds(o.Complete.Time), s.key, all.since(o)),
			}
		}
	}
	return nil
}

// firstDoubt is from when on a fault may have made servers hold something else than the calls
// on the lock tell.
func firstDoubt(s *stretch, harmless []histories.F) rank {
	doubt := never
	var clients []span // faults
	for _, f := range s.Faults {
		if !slices.Contains(harmless, f.Invoke.F) {
			doubt = min(doubt, at(f.Invoke.Index))
			continue
		}
		clients = append(clients, force(f))
	}
	var latest rank // end of the faults that began before the call ended
	for _, o := range s.calls {
		if len(clients) == 0 && latest == 0 {
			break
		}
		lock := o.Invoke.F == histories.Acquire && !o.Complete.Invalid() || o.Invoke.F == histories.Release || o.Invoke.F == histories.Extend
		if !lock {
			continue
		}
		call := s.calling(o)
		for len(clients) > 0 && clients[0].from < call.to {
			latest, clients = max(latest, clients[0].to), clients[1:]
		}
		if latest > call.from {
			return min(doubt, call.to)
		}
	}
	return doubt
}
