package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// A register is the protected resource under one key.
type register struct {
	*stretch
	*ledger
	accesses  []*histories.Op // in order of invocations
	forgotten int64           // version up to which it need not be known who wrote it

	producer map[int64]*histories.Op // accepted write that produced a version

	judged, unjudged        int
	lost                    map[int64]bool // versions that were overwritten unseen
	update, stale, unstable conflicts
}

// A ledger is what is known of a register by the end of a stretch.
type ledger struct {
	seen    bool
	newest  int64         // version
	oldest  int64         // version that anybody has seen
	written int64         // writes that may have been accepted
	highest *histories.Op // the access with the highest token
}

// ledgers are those of registers, by key.
type ledgers map[string]*ledger

// newRegister returns the register under a key, or nil if nobody reads or writes there, or if it is a
// counter.
func newRegister(s *stretch, known ledgers) *register {
	r := &register{stretch: s}
	for _, o := range s.calls {
		if o.Invoke.F == histories.Read || writes(o) {
			r.accesses = append(r.accesses, o)
		}
	}
	if s.counter {
		delete(known, s.key) // so it was one before
	}
	if len(r.accesses) == 0 || s.counter {
		return nil
	}
	if known[s.key] == nil {
		known[s.key] = &ledger{}
	}
	r.ledger = known[s.key]
	r.forgotten = r.newest
	return r
}

// check checks that the register itself is sound.
func (r *register) check() error {
	r.producer = make(map[int64]*histories.Op)
	for _, o := range r.accesses {
		if !acceptedWrite(o) {
			continue
		}
		if twin, ok := r.producer[o.Complete.Version+1]; ok {
			return fmt.Errorf("the register %s is broken: the writes of events %d and %d both replaced version %d",
				r.key, twin.Complete.Index, o.Complete.Index, o.Complete.Version)
		}
		r.producer[o.Complete.Version+1] = o
	}

	returned := make([]*histories.Op, 0, len(r.accesses))
	for _, o := range r.accesses {
		if o.Outcome() == histories.OK {
			returned = append(returned, o)
		}
	}
	slices.SortFunc(returned, func(a, b *histories.Op) int { return a.Complete.Index - b.Complete.Index })
	i := 0
	for _, o := range r.accesses {
		for ; i < len(returned) && returned[i].Complete.Index < o.Invoke.Index; i++ {
			r.newest = max(r.newest, left(returned[i]))
		}
		if o.Outcome() == histories.OK && o.Complete.Version < r.newest && r.mine(o.Complete.Index) {
			return fmt.Errorf("the register %s is broken: the %s of event %d found version %d, but version %d had been seen before it was invoked",
				r.key, o.Invoke.F, o.Complete.Index, o.Complete.Version, r.newest)
		}
	}
	for _, o := range returned[i:] {
		r.newest = max(r.newest, left(o))
	}
	return r.unwritten(returned)
}

// unwritten is the error of an access that saw a version which nobody can have written. The
// accesses come in order of returns.
func (r *register) unwritten(accesses []*histories.Op) error {
	if r.opt.excerpt {
		return nil
	}
	for _, o := range accesses {
		if !r.seen || o.Complete.Version < r.oldest {
			r.seen, r.oldest = true, o.Complete.Version
		}
	}
	next := 0
	by := func(event int) {
		for ; next < len(r.accesses) && r.accesses[next].Invoke.Index < event; next++ {
			if w := r.accesses[next]; writes(w) && w.Outcome() != histories.Fail && r.mine(w.Invoke.Index) {
				r.written++
			}
		}
	}
	for _, o := range accesses {
		by(o.Complete.Index)
		if seen := o.Complete.Version; seen-r.oldest > r.written && r.mine(o.Complete.Index) {
			return fmt.Errorf("the register %s is broken: the %s of event %d found version %d, but there had been %s since version %d",
				r.key, o.Invoke.F, o.Complete.Index, seen, words.Count(int(r.written), "write"), r.oldest)
		}
	}
	by(r.to)
	return nil
}

// left is the version that an accepted access left behind.
func left(o *histories.Op) int64 {
	if writes(o) {
		return o.Complete.Version + 1
	}
	return o.Complete.Version
}

func writes(o *histories.Op) bool {
	return o.Invoke.F == histories.Write || o.Invoke.F == histories.Draw
}

func acceptedWrite(o *histories.Op) bool { return writes(o) && o.Outcome() == histories.OK }

// view is what one attempt knows of the register.
type view struct {
	version int64 // last read or written
	source  int   // event that told it
	known   bool
	unknown int // own writes of unknown outcome so far
}

// updates looks for lost updates.
func (r *register) updates() {
	r.lost = make(map[int64]bool)
	views := make(map[uint64]*view)
	for _, o := range r.accesses {
		v := views[o.Invoke.Attempt]
		if v == nil {
			v = &view{}
			views[o.Invoke.Attempt] = v
		}
		switch {
		case o.Outcome() == histories.Info && writes(o):
			v.unknown++
		case o.Outcome() != histories.OK:
		case o.Invoke.F == histories.Read:
			r.stable(v, o)
			v.version, v.source, v.known = o.Complete.Version, o.Complete.Index, true
		default:
			r.replace(v, o)
		}
	}
}

// replace judges one accepted write against what its attempt knew.
func (r *register) replace(v *view, write *histories.Op) {
	switch {
	case r.mine(write.Complete.Index) && !v.known:
		r.unjudged++
	case r.mine(write.Complete.Index):
		r.judged++
	}
	if !v.known {
		return
	}
	seen, replaced := v.version, write.Complete.Version
	source := v.source
	v.version, v.source = replaced+1, write.Complete.Index

	var writers []*histories.Op
	var overwritten []int64
	explained := 0 // by own writes of unknown outcome
	for version := seen + 1; version <= replaced; version++ {
		if w, ok := r.producer[version]; ok {
			writers = append(writers, w)
		} else if explained < v.unknown {
			explained++
			continue
		}
		overwritten = append(overwritten, version)
	}
	v.unknown -= explained
	if len(overwritten) == 0 {
		return
	}
	if !r.mine(write.Complete.Index) {
		return
	}
	for _, version := range overwritten {
		r.lost[version] = true
	}
	r.update.add(r.stretch, r.lostUpdate(seen, source, writers, write))
}

// stable judges one read against what its attempt knew. As many versions as the attempt has
// writes of unknown outcome may be its own.
func (r *register) stable(v *view, read *histories.Op) {
	if !v.known {
		return
	}
	own := 0 // versions that its writes of unknown outcome may have produced
	var other *histories.Op
	for version := v.version + 1; version <= read.Complete.Version && own <= v.unknown; version++ {
		if w, ok := r.producer[version]; ok {
			other, own = w, v.unknown+1
			break
		}
		own++
	}
	if own <= v.unknown {
		v.unknown -= own
		return
	}
	c := &conflict{
		witness: []int{v.source, read.Complete.Index},
		story: fmt.Sprintf("%s knew %s at version %d from %s on, and still in its section it read version %d at %s, which was not its own",
			histories.WorkerName(read.Invoke.Worker), r.key, v.version, r.when(v.source), read.Complete.Version, words.Seconds(read.Complete.Time)),
	}
	if other != nil {
		c.witness = append(c.witness, other.Complete.Index)
	}
	r.unstable.add(r.stretch, c)
}

func (r *register) lostUpdate(seen int64, source int, writers []*histories.Op, write *histories.Op) *conflict {
	name := histories.WorkerName(write.Invoke.Worker)
	c := &conflict{witness: []int{source, write.Complete.Index}}
	by := "somebody whose write has no known outcome had written"
	if write.Complete.Version <= r.forgotten {
		by = "somebody had written"
	}
	if len(writers) > 0 {
		w := writers[len(writers)-1]
		by = fmt.Sprintf("%s had written at %s", histories.WorkerName(w.Invoke.Worker), words.Seconds(w.Complete.Time))
		c.witness = append(c.witness, w.Complete.Index)
	}
	c.story = fmt.Sprintf("%s last saw version %d of %s at %s, but its write at %s overwrote version %d, which %s and %s had not seen",
		name, seen, r.key, r.when(source), words.Seconds(write.Complete.Time), write.Complete.Version, by, name)
	return c
}

// tokens looks for accepted writes with stale tokens.
func (r *register) tokens() {
	var carried []*histories.Op
	for _, o := range r.accesses {
		if o.Outcome() == histories.OK && token(o) > 0 && r.mine(o.Complete.Index) {
			carried = append(carried, o)
		}
	}
	// A read that saw a version came before the write that replaced it.
	slices.SortStableFunc(carried, func(a, b *histories.Op) int {
		return cmp.Or(cmp.Compare(a.Complete.Version, b.Complete.Version), cmp.Compare(left(a), left(b)))
	})
	highest := r.highest
	for _, o := range carried {
		if highest != nil && writes(o) && token(o) < token(highest) {
			r.stale.add(r.stretch, &conflict{
				witness: []int{highest.Complete.Index, o.Complete.Index}, called: []called{calledBy(highest)},
				story: fmt.Sprintf("%s's write of %s with token %d was accepted at %s although %s had shown token %d before it, at %s",
					histories.WorkerName(o.Invoke.Worker), r.key, token(o), words.Seconds(o.Complete.Time),
					histories.WorkerName(highest.Invoke.Worker), token(highest), words.Seconds(highest.Complete.Time)),
			})
		}
		if highest == nil || token(o) > token(highest) {
			highest = o
		}
	}
	r.highest = highest
}

// token is the fencing token that an access carried.
func token(o *histories.Op) int64 {
	return cmp.Or(o.Complete.Token, o.Invoke.Token)
}
