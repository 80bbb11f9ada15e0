package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/peers"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// Run holds the lock to the contract of locks, and then plays each scenario of the catalogue that concerns it, as subtests:
// contract/refusal, P07_delete-without-check and so on. A scenario whose steps the lock can never come to is skipped.
//
// A subtest fails if the lock breaks what another lock of its class keeps under the same steps, or if nothing can be said
// of it. It tells the cause, what happened, and how to play it again; its directory of artifacts has the history, the
// commands, a page that draws the run, and its schedule (go test -artifacts keeps them).
func Run(t *testing.T, lock Lock, opts ...Option) {
	t.Helper()
	outside(t, "Run")
	r := newTest(t, lock, newOptions(t, opts))
	r.unknownNames(t)
	t.Run(contractName, func(t *testing.T) {
		t.Helper()
		r.contract(t)
	})
	t.Cleanup(func() {
		t.Helper()
		r.weaknesses(t)
	})
	for _, s := range scenarios.All() {
		if s.Unfit(r.spec) != "" || s.Broken().Guard.Supports(r.spec) != nil || s.Gaps[r.backend.Name] != "" {
			continue
		}
		t.Run(s.ID+"_"+s.Name, func(t *testing.T) {
			t.Helper()
			t.Parallel()
			r.scenario(t, s)
		})
	}
}

// test is one lock under test.
type test struct {
	options
	spec  locks.Spec
	known bool // it is one of the catalogue
	again bool // what is played has broken the lock before, which may send other commands now
	bench *peers.Bench

	mu     sync.Mutex
	causes map[checker.CauseKind]string // the subtest that told of each kind
	weak   []string                     // scenarios that no lock of the class survives
	left   bool                         // it was told that goroutines are left

	play func(context.Context, harness.Config) (harness.Result, error) // a run
}

// newTest looks at the lock. It ends a test of a lock that nobody can acquire.
func newTest(t testing.TB, lock Lock, o options) *test {
	t.Helper()
	if lock.New == nil {
		t.Fatal("Lock.New is nil, want the func that makes the lock of one client")
	}
	spec, err := probe(lock)
	stuck, stands := errors.AsType[*sim.StuckError](err)
	switch {
	case stands && stuck.Socket:
		t.Fatalf("the lock cannot be tested in virtual time: %v; %s\n%s", stuck, ownSocket, stuck.Stacks)
	case stands:
		t.Fatalf("the lock cannot be tested in virtual time: %v\n%s", stuck, stuck.Stacks)
	case ofSocket(err):
		t.Fatalf("the lock cannot be tested: %v; %s", err, ownSocket)
	case err != nil:
		t.Fatalf("the lock cannot be tested: %v", err)
	}
	return &test{options: o, spec: spec, known: lock.known.Name != "", bench: &peers.Bench{Locks: o.among}, causes: map[checker.CauseKind]string{}, play: harness.Run}
}

// ownSocket says what to do about a lock that connects by itself.
const ownSocket = "want a client with the options of World.Options, or with World.Dial as its dialler; " +
	"a library that takes nothing but an address is tested as a program of its own, on real servers: lockbench init go"

// ofSocket reports whether err comes from a socket of this machine. Those of World.Dial have no such errors in fair weather.
func ofSocket(err error) bool {
	_, op := errors.AsType[*net.OpError](err)
	_, name := errors.AsType[*net.DNSError](err)
	return op || name
}

// unknownNames fails a test that accepts what there is not.
func (r *test) unknownNames(t *testing.T) {
	t.Helper()
	for what := range r.accepted {
		if _, err := scenarios.Find(what); err != nil && !isClause(what) {
			t.Errorf("Accept(%q): %v", what, err)
		}
	}
}

// acceptedAs is the reason for which a finding of that name is accepted.
func (r *test) acceptedAs(names ...string) (reason string, accepted bool) {
	for _, name := range names {
		if reason, accepted = r.accepted[name]; accepted {
			return reason, true
		}
	}
	return "", false
}

// scenario plays one scenario, and says what it shows.
func (r *test) scenario(t *testing.T, s scenarios.Scenario) {
	t.Helper()
	cfg, err := s.Config(r.spec, s.Broken().Guard, r.backend, 0)
	if err != nil {
		r.excuse(t, err)
		return
	}
	cfg.Want, cfg.Note, cfg.Why, cfg.CommandLog, cfg.Seed = nil, "", "", true, r.seed
	res, v, err := r.settled(t.Context(), s, cfg)
	if err != nil {
		r.excuse(t, err)
		return
	}
	reason, accepted := r.acceptedAs(s.ID, s.Name)
	switch {
	case accepted && len(v.own)+len(v.shared) == 0:
		t.Errorf("%s %s is accepted (%s), and nothing is found there any more: take its Accept away", s.ID, s.Name, reason)
	case accepted:
		t.Logf("accepted, %s: %s", reason, v.broke())
	case len(v.own) > 0:
		t.Error(r.failure(t, s, res, v))
	case len(v.unknown) > 0:
		t.Error(doubt(s, res, v))
	case len(v.shared) > 0:
		r.note(s)
	}
	r.leftovers(t, res.Left)
}

// mostAgain is how often a run is played again that a machine that is too busy spoilt.
const mostAgain = 3

// settled plays a run and weighs what it found, and plays it again if a machine that is too busy leaves nothing to be said of the lock, or
// may be what the lock is accused for.
func (r *test) settled(ctx context.Context, s scenarios.Scenario, planned harness.Config) (res harness.Result, v verdict, err error) {
	cfg := planned
	for n := 1; ; n++ {
		res, err = r.play(ctx, cfg)
		spoilt := harness.SeemsToWait(err) && !cfg.Backend.Virtual()
		if err == nil {
			v = r.weigh(ctx, s, cfg, res)
			spoilt = len(v.own) > 0 && res.Slow() || len(v.own) == 0 && len(v.unknown) > 0 && res.Busy()
		}
		if !spoilt || n > mostAgain || ctx.Err() != nil {
			return res, v, err
		}
		cfg = planned.Again(n)
	}
}

// excuse says why a run has nothing to say of the lock, or why the harness could not play it.
func (r *test) excuse(t testing.TB, err error) {
	t.Helper()
	if harness.SeemsToWait(err) && !r.backend.Virtual() { // when it was looked at, in virtual time, it did not wait
		t.Errorf("nothing can be said of the lock, as the machine may be too busy: %v", err)
		return
	}
	if harness.NotApplicable(err) {
		t.Skip(optional + "the steps do not apply to the lock: " + err.Error())
	}
	if harness.Unplayed(err) && r.again {
		t.Skip(optional + "the lock does not come to what the schedule is about: " + err.Error())
	}
	if harness.Unplayed(err) {
		t.Errorf("nothing can be said of the lock: the steps were written for other locks, and this one does not do what they wait for: %v", err)
		return
	}
	t.Errorf("the run could not be played: %v", err)
}

// optional is what the reasons of skips begin with that nobody needs to look after.
const optional = "optional: "

// note keeps for the end that no lock of the class survives a scenario.
func (r *test) note(s scenarios.Scenario) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.weak = append(r.weak, s.ID+" "+s.Name)
}

// weaknesses tells once what no lock of the class survives.
func (r *test) weaknesses(t *testing.T) {
	t.Helper()
	if len(r.weak) > 0 {
		t.Logf("no lock of its class (%s) survives these, and they decide nothing: %s", r.spec.Class(), strings.Join(r.weak, ", "))
	}
}

// leftovers tells once of goroutines that a lock leaves behind.
func (r *test) leftovers(t *testing.T, left string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if left == "" || r.left {
		return
	}
	r.left = true
	t.Logf("goroutines of the lock go on when it has been closed; a method Close() error of the lock should end them:\n%s", left)
}

// command is the command that plays a subtest again.
func command(t testing.TB) string {
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test -run '%s' -artifacts", strings.Join(parts, "/"))
}
