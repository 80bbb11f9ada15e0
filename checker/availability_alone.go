package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// askedInVain returns the first stretch of calls in which a client asked for the key alone,
// for longer than a lease and the slack, and got none, whether it was refused or had no
// certain answer. Alone means that all that time no other client wanted the key, nothing that
// had been granted before could still be held on a server, fewer than half of the
// masters were at fault, and no client was. What an attempt of its own left behind does not
// excuse the lock: that lasts a lease and no longer. Who waits in a call asks all that time, and
// alone from where the last of the others is gone; but a call that met a fault may have its
// answer late.
func (s *supply) askedInVain(opt Options) (vain, bool) {
	search := alone{opt: opt, supply: s, patience: s.lease + opt.slack()}
	if s.lease <= 0 {
		return vain{}, false
	}
	for i := 0; i < len(s.asked); {
		j := i
		for j < len(s.asked) && s.asked[j].Invoke.Worker == s.asked[i].Invoke.Worker && s.asked[j].Done && s.asked[j].Outcome() != histories.OK {
			j++
		}
		if v, ok := search.in(s.asked[i:j], 0); ok {
			return v, true
		}
		i = max(i+1, j)
	}
	return vain{}, false
}

// vain is a stretch of calls of one client that asked alone and in vain.
type vain struct {
	first, last *histories.Op
	from        rank          // of when it began to ask alone
	faulty      int           // masters at fault meanwhile
	patience    time.Duration // longest lease asked for, and the slack
}

// alone looks for stretches without an excuse.
type alone struct {
	*supply
	opt      Options
	patience time.Duration
	want     []rank // of supply.wanted, once it was asked for
}

// in looks in calls of one client, none of which was granted, from some time on. Where there
// is an excuse it looks before and after it.
func (a *alone) in(calls []*histories.Op, from rank) (vain, bool) {
	if len(calls) == 0 {
		return vain{}, false
	}
	v := vain{first: calls[0], last: calls[len(calls)-1], from: max(from, at(calls[0].Invoke.Index)), patience: a.patience}
	if at(v.last.Complete.Index) < v.from || v.took(a.stretch) <= a.patience {
		return vain{}, false
	}
	why, faulty := a.excuse(v)
	if why == (excuse{}) {
		v.faulty = faulty
		return v, true
	}
	before, after := 0, len(calls)
	for i, o := range calls {
		call := a.calling(o)
		if call.to < why.from {
			before = i + 1
		}
		if call.from > why.to || call.to > why.to && !why.fault {
			after = min(after, i)
		}
	}
	if v, ok := a.in(calls[:before], from); ok {
		return v, ok
	}
	return a.in(calls[after:], why.to)
}

// An excuse is a span of time of which calls prove nothing.
type excuse struct {
	span
	fault bool
}

// excuse is why a stretch of calls proves nothing, or the zero excuse; and how many masters
// were at fault meanwhile.
func (a *alone) excuse(v vain) (why excuse, faulty int) {
	all := span{v.from, at(v.last.Complete.Index)}
	calls := span{at(v.first.Invoke.Index), all.to}
	if a.want == nil {
		a.want = a.wanted(a.opt.slack())
	}
	for i, o := range a.asked {
		if want := (span{at(o.Invoke.Index), a.want[i]}); o.Invoke.Worker != v.first.Invoke.Worker && want.meets(all) {
			return excuse{span: want}, 0
		}
	}
	for _, t := range a.taken {
		own := t.hold != nil && t.hold.Worker == v.first.Invoke.Worker && t.hold.Outcome != histories.OK
		if !own && t.meets(all) {
			return excuse{span: t.span}, 0
		}
	}
	nodes := map[string]bool{}
	var last span
	for _, f := range a.ill {
		force := force(f)
		switch {
		case !force.meets(calls):
		case slices.Contains(a.opt.clientFaults(), f.Invoke.F), f.Invoke.Node == "":
			return excuse{force, true}, 0
		default:
			nodes[f.Invoke.Node], last = true, force
		}
	}
	if len(nodes) > 0 && 2*len(nodes) >= max(a.opt.Masters, 1) {
		return excuse{last, true}, len(nodes)
	}
	return excuse{}, len(nodes)
}

// took is for how long it asked alone.
func (v vain) took(s *stretch) time.Duration { return v.last.Complete.Time - s.timeOf(v.from) }

func (v vain) tell(s *supply, masters int) string {
	text := fmt.Sprintf("%s alone asked for %s from %s to %s, for %s, longer than the %s of TTL and slack, and got no lease although nobody had one",
		histories.WorkerName(v.first.Invoke.Worker), s.key, words.Seconds(s.timeOf(v.from)), words.Seconds(v.last.Complete.Time),
		words.Seconds(v.took(s.stretch)), words.Seconds(v.patience))
	if v.faulty > 0 {
		text += fmt.Sprintf(" and no more than %d of %d masters were at fault", v.faulty, masters)
	}
	return text + "."
}
