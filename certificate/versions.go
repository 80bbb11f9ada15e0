package certificate

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// versions proves that resource safety holds: whatever an attempt reads or overwrites is the version that
// it saw or wrote last, and tokens of accesses do not go down in the order of versions. It keeps a
// number for each attempt that had access.
//
// It says nothing of what it cannot be sure of at once, such as an attempt that makes two accesses at the
// same time, or whose own write of unknown outcome may explain what it found.
type versions struct {
	views  map[view]*sight
	tokens map[string]*tokenOrder
	failed error
}

// A view is what one attempt knows of the register of a key.
type view struct {
	key     string
	attempt uint64
}

type sight struct {
	version int64
	known   bool
	open    bool // an access is under way
}

// tokenOrder is what is known of the tokens that the register of a key has seen.
type tokenOrder struct {
	highest int64
	writes  []write // with tokens: those that replaced the latest versions
}

type write struct{ version, token int64 }

// maxWrites is how many writes are kept, to hold against them what returns late.
const maxWrites = 64

func newVersions() *versions {
	return &versions{views: make(map[view]*sight), tokens: make(map[string]*tokenOrder)}
}

func (p *versions) event(e *histories.Event) {
	if e.Process < 0 || e.Type != histories.Invoke || !accesses(e.F) {
		return
	}
	s := p.views[view{e.Key, e.Attempt}]
	if s == nil {
		s = new(sight)
		p.views[view{e.Key, e.Attempt}] = s
	}
	if s.open {
		p.failed = fmt.Errorf("event %d: attempt %d makes two accesses at once", e.Index, e.Attempt)
	}
	s.open = true
}

func (p *versions) answered(c *call) {
	if !accesses(c.invoke.F) || p.failed != nil {
		return
	}
	s := p.views[view{c.invoke.Key, c.invoke.Attempt}]
	s.open = false
	if c.answer.Type != histories.OK {
		return
	}
	if s.known && c.answer.Version != s.version {
		p.failed = fmt.Errorf("event %d: attempt %d found version %d of %q, and knew version %d", c.answer.Index, c.invoke.Attempt, c.answer.Version, c.invoke.Key, s.version)
		return
	}
	if s.known || c.invoke.F == histories.Read {
		s.known, s.version = true, left(c)
	}
	if token(c) > 0 {
		p.order(c)
	}
}

// order holds the token of an access against those of the others.
func (p *versions) order(c *call) {
	o := p.tokens[c.invoke.Key]
	if o == nil {
		o = new(tokenOrder)
		p.tokens[c.invoke.Key] = o
	}
	stale := writes(c.invoke.F) && token(c) < o.highest
	early := slices.ContainsFunc(o.writes, func(w write) bool { return w.version >= left(c) && w.token < token(c) })
	unknown := len(o.writes) == maxWrites && o.writes[0].version >= left(c)
	if stale || early || unknown {
		p.failed = fmt.Errorf("event %d: the token %d is not in the order of the versions of %q", c.answer.Index, token(c), c.invoke.Key)
		return
	}
	o.highest = max(o.highest, token(c))
	if !writes(c.invoke.F) {
		return
	}
	o.writes = append(o.writes, write{c.answer.Version, token(c)})
	slices.SortFunc(o.writes, func(a, b write) int { return int(min(1, max(-1, a.version-b.version))) })
	if len(o.writes) > maxWrites {
		o.writes = o.writes[1:]
	}
}

func (p *versions) bounds() ([]Bound, error) { return nil, p.failed }
