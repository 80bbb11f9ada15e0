package locktest

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/locks"
)

// Option says how a test is played. Options that do not concern a func are ignored by it.
type Option func(*options)

type options struct {
	accepted map[string]string // reasons, by what the finding is named after
	backend  harness.Backend
	seed     uint64
	among    locks.Catalogue // references are looked for among these
	depth    int
	samples  int
	limit    time.Duration
}

// Accept accepts what is found under a scenario, such as P14 or failover-async-repl, or in a clause of
// the contract, such as contract/expiry. The reason is for people. It fails the test when nothing is
// found there any more, so that no reason outlives its finding.
func Accept(what, reason string) Option {
	return func(o *options) {
		if o.accepted == nil {
			o.accepted = map[string]string{}
		}
		o.accepted[what] = reason
	}
}

// On plays on another backend than in-process servers in virtual time. The flag -lockbench.backend and the
// environment variable REDIS_ADDR do so for a whole test binary.
func On(backend Backend) Option { return func(o *options) { o.backend = harness.Backend(backend) } }

// Seed decides latencies, tokens and what is drawn. Without it the seed is 1.
func Seed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// Depth is how many faults Explore combines at most: 0, 1 or 2. Without it that is 1.
func Depth(n int) Option { return func(o *options) { o.depth = n } }

// Samples is how many schedules of two and three faults Explore draws besides. Without it there are none.
func Samples(n int) Option { return func(o *options) { o.samples = n } }

// For ends Explore after d of real time, with what it has found by then. Without it Explore goes on until it has
// tried everything, or until shortly before the deadline of the test.
func For(d time.Duration) Option { return func(o *options) { o.limit = d } }

// newOptions are options, with what the test binary was started with.
func newOptions(t testing.TB, opts []Option) options {
	t.Helper()
	o := options{seed: 1, depth: 1, among: locks.All()}
	for _, f := range opts {
		f(&o)
	}
	if o.backend.Name == "" {
		o.backend = asked(t)
	}
	ready(t, o.backend)
	return o
}
