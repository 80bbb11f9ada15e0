package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// refusedToAll returns the first stretch in which clients, whoever they were, were refused the
// key again and again while it was certainly free, for longer than a lease and the slack.
//
// The key may be had by somebody, or be kept from everybody, and so is not certainly free,
//
//   - from an acquire that was not refused until nothing of it can be left on a server: see
//     takenBy. What came of an acquire of unknown outcome lasts no longer than a lease and the slack
//     after its client gave it up, and after the last fault of the client that may
//     have kept its command from the server;
//   - while a fault is in force that touches what servers hold, on so many of the masters that
//     no majority is left, and until a lease and the slack after it.
//
// After the last fault that is a matter of deadlock freedom. A fault of a client excuses the refusals that this client got while it was in force.
//
// Twice that time is allowed to a lock on several masters, as a majority may be split
// between those who ask at once, and to one that readers share, as a writer who waits keeps
// its place until it gives up. A lock whose clients wait for so long, at random intervals, is
// not kept from them by chance.
func (s *supply) refusedToAll(opt Options, calm rank) *conflict {
	if s.lease <= 0 {
		return nil
	}
	patience := s.lease + opt.slack()
	if opt.Masters > 1 || s.shared {
		patience *= 2
	}
	ailing := newAilments(s.stretch, opt)
	refusals := slices.DeleteFunc(slices.Clone(s.asked), func(o *histories.Op) bool {
		return !refused(o) || at(o.Complete.Index) > calm || ailing.of(o.Invoke.Worker).meets(between(o.Invoke.Index, o.Complete.Index))
	})
	for _, w := range free(s.engaged(opt, ailing), 0) {
		var first, last *histories.Op
		n := 0
		for ; len(refusals) > 0 && at(refusals[0].Invoke.Index) < w.to; refusals = refusals[1:] {
			o := refusals[0]
			if at(o.Invoke.Index) < w.from || at(o.Complete.Index) > w.to {
				continue
			}
			if n++; n == 1 {
				first = o
			}
			last = o
		}
		if n < 2 || last.Invoke.Time-first.Invoke.Time <= patience {
			continue
		}
		return &conflict{
			witness: []int{first.Invoke.Index, last.Complete.Index},
			story: fmt.Sprintf("%s was refused %s from %s, when %s asked, to %s, when %s was last refused, although nobody can have had it all that time: for %s, longer than %s.",
				s.key, words.Times(n), words.Seconds(first.Invoke.Time), histories.WorkerName(first.Invoke.Worker), words.Seconds(last.Complete.Time),
				histories.WorkerName(last.Invoke.Worker), words.Seconds(last.Invoke.Time-first.Invoke.Time), words.Seconds(patience)),
		}
	}
	return nil
}

// ailments are the faults that touch each client.
type ailments struct {
	stretch *stretch
	opt     Options
	each    map[int]cover
}

func newAilments(s *stretch, opt Options) ailments {
	return ailments{s, opt, make(map[int]cover)}
}

func (a ailments) of(worker int) cover {
	c, known := a.each[worker]
	if !known {
		var spans []span
		for _, f := range a.stretch.ill {
			if ofClient(f, a.opt, worker) {
				spans = append(spans, force(f))
			}
		}
		c = newCover(spans)
		a.each[worker] = c
	}
	return c
}

// ofClient reports whether a fault touches a client, and no server.
func ofClient(f *histories.Op, opt Options, worker int) bool {
	return slices.Contains(opt.clientFaults(), f.Invoke.F) && (f.Invoke.Node == "" || !isWorker(f.Invoke.Node) || opt.together(f.Invoke.Node, worker))
}

// together reports whether a worker of that name is another one, or a thread of its process.
func (o Options) together(name string, worker int) bool {
	if name == histories.WorkerName(worker) {
		return true
	}
	for thread := range o.Threads {
		if worker < o.Threads && name == histories.WorkerName(thread) {
			return true
		}
	}
	return false
}

// isWorker reports whether a name is one that workers have.
func isWorker(name string) bool {
	return name != "" && name[0] >= 'A' && name[0] <= 'Z'
}

// engaged are the spans in which the key may not be free, in order of starts.
func (s *supply) engaged(opt Options, ailing ailments) []span {
	all := s.majorityAtFault(opt)
	for _, t := range s.taken {
		if t.hold == nil {
			all = append(all, t.span)
			continue
		}
		all = append(all, span{t.from, max(s.gone(opt, t), s.late(opt, t.hold, ailing))})
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// gone is when nothing of a hold can be left on a server, if nothing came late.
func (s *supply) gone(opt Options, t taking) rank {
	h := t.hold
	_, released := accepted(h)
	switch {
	case h.Outcome == histories.OK || released:
		return t.to
	case h.Returned == (histories.Instant{}) && h.End != histories.Crash:
		return never
	}
	return s.leaseAfter(opt, max(h.Returned.Time, h.Ended.Time))
}

// late is when nothing can be left of what faults of its client may have kept from a server while
// it had a hold or asked for it; 0 if there were none.
func (s *supply) late(opt Options, h *histories.Hold, ailing ailments) rank {
	last := max(h.Returned.Event, h.Ended.Event)
	for _, r := range h.Releases {
		last = max(last, r.Returned.Event)
	}
	end, ok := ailing.of(h.Worker).latest(between(h.Invoked.Event, last+1))
	if !ok || end == never {
		return end
	}
	return s.leaseAfter(opt, s.timeOf(end))
}

// leaseAfter is when the longest lease and the slack have passed since a time.
func (s *supply) leaseAfter(opt Options, t time.Duration) rank {
	return s.gap(plus(t, plus(s.lease, opt.slack())))
}

// majorityAtFault are the spans in which faults touch so many masters that no majority is left,
// or a fault touches them all, with what they leave behind.
func (s *supply) majorityAtFault(opt Options) []span {
	type sick struct {
		span
		node string
	}
	var all []sick
	for _, f := range s.ill {
		if slices.Contains(opt.clientFaults(), f.Invoke.F) {
			continue
		}
		x := sick{span{at(f.Invoke.Index), never}, f.Invoke.Node}
		if healed(f) {
			x.to = s.leaseAfter(opt, f.Complete.Time)
		}
		all = append(all, x)
	}
	var found []span
	for _, x := range all {
		nodes := map[string]bool{}
		for _, y := range all {
			if x.meets(y.span) {
				nodes[y.node] = true
			}
		}
		if nodes[""] || 2*len(nodes) >= max(opt.Masters, 1) {
			found = append(found, x.span)
		}
	}
	return found
}
