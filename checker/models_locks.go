package checker

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// A claim is how many permits an owner has of a lock.
type claim struct {
	owner, permits int
	reads          bool
}

// grip is the state of a lock that knows its owners: their claims in order, 17 bytes each, the
// token of the hold, 0 if it is not known, and the highest token so far.
type grip struct {
	claims         string
	token, highest int64
}

func (g grip) list() []claim {
	var all []claim
	for b := []byte(g.claims); len(b) > 0; b = b[17:] {
		all = append(all, claim{
			owner:   int(binary.BigEndian.Uint64(b)),
			permits: int(binary.BigEndian.Uint64(b[8:])),
			reads:   b[16] == 1,
		})
	}
	return all
}

func (g grip) with(all []claim) grip {
	slices.SortFunc(all, func(a, b claim) int { return cmp.Compare(a.owner, b.owner) })
	var b []byte
	for _, c := range all {
		b = binary.BigEndian.AppendUint64(b, uint64(c.owner))
		b = binary.BigEndian.AppendUint64(b, uint64(c.permits))
		reads := byte(0)
		if c.reads {
			reads = 1
		}
		b = append(b, reads)
	}
	g.claims = string(b)
	if len(all) == 0 {
		g.token = 0
	}
	return g
}

// lockRules are what locks that know their owners differ in.
type lockRules struct {
	noun    string
	readers bool // an acquire's value says whether it would share
	// admits reports whether one more acquire is granted beside the claims there are.
	admits func(held []claim, do action) bool
	// fits reports whether an acquire that is granted may have its token; nil: there are none.
	fits func(g grip, again bool, token int64) bool
}

func ownerMutexType() datatype {
	return lockRules{
		noun:   "mutex that knows its owner",
		admits: func(held []claim, _ action) bool { return len(held) == 0 },
	}.datatype()
}

// alreadyIn admits who has the lock already, or anybody if nobody has.
func alreadyIn(held []claim, do action) bool { return len(held) == 0 || held[0].owner == do.owner }

func keptTokenType() datatype {
	return lockRules{
		noun:   "re-entrant mutex whose re-entries keep the token",
		admits: alreadyIn,
		fits: func(g grip, again bool, token int64) bool {
			if again && g.token != 0 {
				return token == g.token
			}
			return token > g.highest
		},
	}.datatype()
}

func raisedTokenType() datatype {
	return lockRules{
		noun:   "re-entrant mutex whose re-entries raise the token",
		admits: alreadyIn,
		fits:   func(g grip, _ bool, token int64) bool { return token > g.highest },
	}.datatype()
}

func readWriteType() datatype {
	return lockRules{
		noun:    "read/write lock",
		readers: true,
		admits: func(held []claim, do action) bool {
			return len(held) == 0 || do.a == string(histories.Shared) && held[0].reads
		},
	}.datatype()
}

func semaphoreType(permits int) datatype {
	return lockRules{
		noun: "semaphore of " + words.Count(permits, "permit"),
		admits: func(held []claim, _ action) bool {
			n := 0
			for _, c := range held {
				n += c.permits
			}
			return n < permits
		},
	}.datatype()
}

func (r lockRules) datatype() datatype {
	return datatype{noun: r.noun, init: grip{}, read: r.read, step: r.step, tells: r.tells, idle: alwaysActs}
}

// read takes acquires, with their mode if there are readers and their token if there are any,
// and releases.
func (r lockRules) read(o histories.Op) (action, error) {
	do := action{f: o.Invoke.F, owner: o.Invoke.Worker}
	switch do.f {
	case histories.Release:
		return do, nil
	case histories.Acquire:
	default:
		return do, fmt.Errorf("the call is %q, want acquire or release", do.f)
	}
	if r.readers {
		switch do.a = strings.TrimPrefix(o.Invoke.Value, ":"); do.a { // a keyword of Jepsen's
		case "", "write":
			do.a = ""
		case string(histories.Shared):
		default:
			return do, fmt.Errorf("the value of acquire is %q, want read or write", do.a)
		}
	}
	if r.fits == nil || o.Outcome() != histories.OK {
		return do, nil
	}
	if do.n = o.Complete.Token; do.n == 0 {
		n, err := strconv.ParseInt(o.Complete.Value, 10, 64)
		if err != nil || n <= 0 {
			return do, fmt.Errorf("an acquire answered with token %d and value %q, want a token above 0 as either", o.Complete.Token, o.Complete.Value)
		}
		do.n = n
	}
	return do, nil
}

func (r lockRules) step(state any, do action) (bool, any) {
	g := state.(grip)
	held := g.list()
	mine := slices.IndexFunc(held, func(c claim) bool { return c.owner == do.owner })
	if do.f == histories.Release {
		if mine < 0 {
			return do.unknown, g
		}
		if held[mine].permits--; held[mine].permits == 0 {
			held = slices.Delete(held, mine, mine+1)
		}
		return true, g.with(held)
	}
	switch {
	case !r.admits(held, do):
		return do.unknown, g
	case do.n != 0 && !r.fits(g, mine >= 0, do.n):
		return do.unknown, g
	}
	if mine < 0 {
		mine, held = len(held), append(held, claim{owner: do.owner, reads: do.a == string(histories.Shared)})
	}
	held[mine].permits++
	if g = g.with(held); do.n != 0 {
		g.token, g.highest = do.n, max(g.highest, do.n)
	}
	return true, g
}

func (r lockRules) tells(do action) string {
	what := "released the lock"
	if do.f == histories.Acquire {
		what = "was granted the lock"
	}
	if do.a == string(histories.Shared) {
		what += " for reading"
	}
	if do.n != 0 {
		what += fmt.Sprintf(" with token %d", do.n)
	}
	return what
}
