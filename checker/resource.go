package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// judgeResource judges resource safety: the critical sections' reads and writes of
// the protected register lose no update, no section sees it change from outside, and no
// write with a stale token is accepted. Counters are judged by judgeCounter.
//
// The register counts its writes. A read tells the version that it saw, a write
// the version that it replaced, so accepted accesses are in a known order.
//
// A lost update is an accepted write that replaced a version other than the one its
// attempt had last read or written: it overwrote what it had never seen. Writes
// of an attempt that read nothing before are not judged.
//
// A read is unstable if it sees another version than its attempt last saw or wrote:
// somebody wrote into its section. To take a lottery's prize is a write.
//
// A write is stale if it was accepted with a token lower than that of an access
// before it in the order of versions. Tokens of 0 take no part.
//
// A write of unknown outcome accuses nobody. It may have produced one version that
// no accepted write did, and if it is the attempt's own it may explain what that
// attempt overwrote; but to overwrite a version that the attempt had not seen is a
// lost update whoever wrote it. A refused write is a guard at work.
//
// Two writes that replaced the same version, an access that saw an older one
// than a call that returned before it began, or one that saw more versions than there had been
// writes, mean that the register is broken. That is an error of the harness, not of the lock.
func judgeResource(_ context.Context, rec *record, _ Options) (Result, error) {
	res := Result{Engine: "version order"}
	res.count(rec, histories.Read, histories.Write, histories.Draw)

	counters := countersOf(rec)
	byKey := make(map[string]*register)
	for _, o := range rec.calls {
		if o.Invoke.F != histories.Read && !writes(o) || counters[o.Invoke.Key] != nil {
			continue
		}
		r := byKey[o.Invoke.Key]
		if r == nil {
			r = &register{rec: rec, key: o.Invoke.Key}
			byKey[o.Invoke.Key] = r
		}
		r.calls = append(r.calls, o)
	}
	if len(byKey) == 0 {
		res.Verdict = NotApplicable
		res.Story = "The clients had no protected resource."
		return res, nil
	}

	judged, unjudged, lost, stale, unstable := 0, 0, 0, 0, 0
	var first, firstStale, firstUnstable *conflict
	for _, key := range sortedKeys(byKey) {
		r := byKey[key]
		if err := r.check(); err != nil {
			return res, err
		}
		r.updates()
		r.tokens()
		judged, unjudged = judged+r.judged, unjudged+r.unjudged
		lost, stale, unstable = lost+len(r.lost), stale+r.stale, unstable+r.unstable
		first, firstStale, firstUnstable = cmp.Or(first, r.firstLost), cmp.Or(firstStale, r.firstStale), cmp.Or(firstUnstable, r.firstUnstable)
	}

	var skipped string
	if unjudged > 0 {
		skipped = fmt.Sprintf("%s came without a read by the same attempt and could not be judged.", count(unjudged, "write"))
	}
	switch {
	case lost > 0 || stale > 0 || unstable > 0:
		res.Verdict = Fail
		var lostStory, staleStory, unstableStory string
		if lost > 0 {
			lostStory = fmt.Sprintf("%s: %s lost.", first.story, count(lost, "update"))
		}
		if stale > 0 {
			staleStory = fmt.Sprintf("%s: %s with a stale token accepted.", firstStale.story, count(stale, "write"))
		}
		if unstable > 0 {
			unstableStory = fmt.Sprintf("%s: %s.", firstUnstable.story, count(unstable, "unstable read"))
		}
		// One of them is proof enough.
		res.Witness = slices.Sorted(slices.Values(cmp.Or(first, firstStale, firstUnstable).witness))
		res.Story = paragraph(lostStory, staleStory, unstableStory, skipped)
	case judged == 0:
		res.Story = paragraph("No accepted write followed a read of its own attempt, so no update could be lost.", skipped)
	default:
		res.Verdict = Pass
		res.Story = paragraph(fmt.Sprintf("%s, each of the version that its attempt had last seen, and none with a stale token.", count(judged, "accepted write")), skipped)
	}
	return res, nil
}

// A register is the protected resource under one key.
type register struct {
	rec   *record
	key   string
	calls []histories.Op // in order of invocations

	producer map[int64]histories.Op // accepted write that produced a version

	judged, unjudged int
	lost             map[int64]bool // versions that were overwritten unseen
	stale, unstable  int
	firstLost        *conflict
	firstStale       *conflict
	firstUnstable    *conflict
}

// A conflict is the first evidence of its kind.
type conflict struct {
	witness []int
	story   string
}

// check checks that the register itself is sound.
func (r *register) check() error {
	r.producer = make(map[int64]histories.Op)
	for _, o := range r.calls {
		if !acceptedWrite(o) {
			continue
		}
		if twin, ok := r.producer[o.Complete.Version+1]; ok {
			return fmt.Errorf("the register %s is broken: the writes of events %d and %d both replaced version %d",
				r.key, twin.Complete.Index, o.Complete.Index, o.Complete.Version)
		}
		r.producer[o.Complete.Version+1] = o
	}

	returned := make([]histories.Op, 0, len(r.calls))
	for _, o := range r.calls {
		if o.Outcome() == histories.OK {
			returned = append(returned, o)
		}
	}
	slices.SortFunc(returned, func(a, b histories.Op) int { return a.Complete.Index - b.Complete.Index })
	newest, i := int64(0), 0
	for _, o := range r.calls {
		for ; i < len(returned) && returned[i].Complete.Index < o.Invoke.Index; i++ {
			newest = max(newest, left(returned[i]))
		}
		if o.Outcome() == histories.OK && o.Complete.Version < newest {
			return fmt.Errorf("the register %s is broken: the %s of event %d found version %d, but version %d had been seen before it was invoked",
				r.key, o.Invoke.F, o.Complete.Index, o.Complete.Version, newest)
		}
	}
	return r.unwritten(returned)
}

// unwritten is the error of an access that saw a version which nobody can have written. The
// accesses come in order of returns.
func (r *register) unwritten(accesses []histories.Op) error {
	if len(accesses) == 0 || r.rec.excerpt {
		return nil
	}
	first := slices.MinFunc(accesses, func(a, b histories.Op) int { return cmp.Compare(a.Complete.Version, b.Complete.Version) }).Complete.Version
	written, next := int64(0), 0
	for _, o := range accesses {
		for ; next < len(r.calls) && r.calls[next].Invoke.Index < o.Complete.Index; next++ {
			if w := r.calls[next]; writes(w) && w.Outcome() != histories.Fail {
				written++
			}
		}
		if seen := o.Complete.Version; seen-first > written {
			return fmt.Errorf("the register %s is broken: the %s of event %d found version %d, but there had been %s since version %d",
				r.key, o.Invoke.F, o.Complete.Index, seen, count(int(written), "write"), first)
		}
	}
	return nil
}

// left is the version that an accepted access left behind.
func left(o histories.Op) int64 {
	if writes(o) {
		return o.Complete.Version + 1
	}
	return o.Complete.Version
}

func writes(o histories.Op) bool {
	return o.Invoke.F == histories.Write || o.Invoke.F == histories.Draw
}

func acceptedWrite(o histories.Op) bool { return writes(o) && o.Outcome() == histories.OK }

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
	for _, o := range r.calls {
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
			r.update(v, o)
		}
	}
}

// update judges one accepted write against what its attempt knew.
func (r *register) update(v *view, write histories.Op) {
	if !v.known {
		r.unjudged++
		return
	}
	r.judged++
	seen, replaced := v.version, write.Complete.Version
	source := v.source
	v.version, v.source = replaced+1, write.Complete.Index

	var writers []histories.Op
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
	for _, version := range overwritten {
		r.lost[version] = true
	}
	if r.firstLost == nil {
		r.firstLost = r.lostUpdate(seen, source, writers, write)
	}
}

// stable judges one read against what its attempt knew. As many versions as the attempt has
// writes of unknown outcome may be its own.
func (r *register) stable(v *view, read histories.Op) {
	if !v.known {
		return
	}
	own := 0 // versions that its writes of unknown outcome may have produced
	for version := v.version + 1; version <= read.Complete.Version && own <= v.unknown; version++ {
		if _, ok := r.producer[version]; ok {
			own = v.unknown + 1
			break
		}
		own++
	}
	if own <= v.unknown {
		v.unknown -= own
		return
	}
	r.unstable++
	if r.firstUnstable == nil {
		name := histories.WorkerName(read.Invoke.Worker)
		r.firstUnstable = &conflict{
			witness: []int{v.source, read.Complete.Index},
			story: fmt.Sprintf("%s knew %s at version %d from %s on, and still in its section it read version %d at %s, which was not its own",
				name, r.key, v.version, r.rec.when(v.source), read.Complete.Version, seconds(read.Complete.Time)),
		}
		if w, ok := r.producer[read.Complete.Version]; ok {
			r.firstUnstable.witness = append(r.firstUnstable.witness, w.Complete.Index)
		}
	}
}

func (r *register) lostUpdate(seen int64, source int, writers []histories.Op, write histories.Op) *conflict {
	name := histories.WorkerName(write.Invoke.Worker)
	c := &conflict{witness: []int{source, write.Complete.Index}}
	by := "somebody whose write has no known outcome had written"
	if len(writers) > 0 {
		w := writers[len(writers)-1]
		by = fmt.Sprintf("%s had written at %s", histories.WorkerName(w.Invoke.Worker), seconds(w.Complete.Time))
		c.witness = append(c.witness, w.Complete.Index)
	}
	c.story = fmt.Sprintf("%s last saw version %d of %s at %s, but its write at %s overwrote version %d, which %s and %s had not seen",
		name, seen, r.key, r.rec.when(source), seconds(write.Complete.Time), write.Complete.Version, by, name)
	return c
}

// tokens looks for accepted writes with stale tokens.
func (r *register) tokens() {
	var accesses []histories.Op
	for _, o := range r.calls {
		if o.Outcome() == histories.OK && token(o) > 0 {
			accesses = append(accesses, o)
		}
	}
	// A read that saw a version came before the write that replaced it.
	slices.SortStableFunc(accesses, func(a, b histories.Op) int {
		return cmp.Or(cmp.Compare(a.Complete.Version, b.Complete.Version), cmp.Compare(left(a), left(b)))
	})
	var highest histories.Op
	for _, o := range accesses {
		if writes(o) && token(o) < token(highest) {
			r.stale++
			if r.firstStale == nil {
				r.firstStale = &conflict{
					witness: []int{highest.Complete.Index, o.Complete.Index},
					story: fmt.Sprintf("%s's write of %s with token %d was accepted at %s although %s had shown token %d before it, at %s",
						histories.WorkerName(o.Invoke.Worker), r.key, token(o), seconds(o.Complete.Time),
						histories.WorkerName(highest.Invoke.Worker), token(highest), seconds(highest.Complete.Time)),
				}
			}
		}
		if token(o) > token(highest) {
			highest = o
		}
	}
}

// token is the fencing token that an access carried.
func token(o histories.Op) int64 {
	return cmp.Or(o.Complete.Token, o.Invoke.Token)
}
