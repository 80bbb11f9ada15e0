package checker

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

func TestSharedExclusion(t *testing.T) {
	try(t, StrictExclusion, []trial{
		{
			name: "ok: readers share, writers do not",
			history: `
				A acquire 0 1 ok value=read
				B acquire 2 3 ok value=read
				C acquire 3 4 fail
				A release 5 6 ok
				C acquire 6 7 fail
				B release 8 9 ok
				C acquire 10 11 ok
				C release 12 13 ok`,
			want: Pass, story: "3 grants",
		},
		{
			name: "bad: a writer among readers",
			history: `
				A acquire 0 1 ok value=read
				B acquire 2 3 ok value=read
				B release 4 5 ok
				C acquire 6 7 ok
				A release 8 9 ok`,
			want: Fail, story: "A held k for reading from 0.001 s and still believed so when C was granted it at 0.007 s; A did not ask to release it before 0.008 s.",
			witness: []string{"1 A acquire ok", "7 C acquire ok"},
		},
		{
			name: "bad: a reader beside a writer, who ends before another reader",
			history: `
				A acquire 0 1 ok
				B acquire 2 3 ok value=read
				C acquire 4 5 ok value=read
				A release 6 7 ok
				B release 8 9 ok
				C release 8 9 ok`,
			want: Fail, story: "A held k from 0.001 s and still believed so when B was granted it for reading at 0.003 s; A did not ask to release it before 0.006 s. In all, 2 grants",
		},
		{
			name: "bad: two writers after readers",
			history: `
				A acquire 0 1 ok value=read
				B acquire 0 1 ok value=read
				C acquire 3 4 fail
				A release 5 6 ok
				B release 5 6 ok
				C acquire 7 8 ok
				A acquire 9 10 ok
				C release 11 12 ok`,
			want: Fail, witness: []string{"8 C acquire ok", "10 A acquire ok"},
		},
		{
			name: "ok: a worker enters again",
			history: `
				A acquire 0 1 ok value=reenter
				A acquire 2 3 ok value=reenter
				B acquire 3 4 fail value=reenter
				A release 5 6 ok
				A release 7 8 ok attempt=1
				B acquire 9 10 ok value=reenter`,
			want: Pass,
		},
		{
			name: "bad: another enters after the inner release",
			history: `
				A acquire 0 1 ok value=reenter
				A acquire 2 3 ok value=reenter
				A release 5 6 ok
				B acquire 6.5 6.6 ok value=reenter
				A release 7 8 ok attempt=1`,
			want: Fail, witness: []string{"1 A acquire ok", "6.6 B acquire ok"},
		},
		{
			name: "bad: a holder that does not re-enter",
			history: `
				A acquire 0 1 ok
				B acquire 1 1.5 fail
				A acquire 2 3 ok value=reenter
				A release 5 6 ok`,
			want: Fail,
		},
		{
			name: "bad: an unknown write surfaced under two readers, who cover its release together",
			history: `
				C acquire 0 0.5 info
				A acquire 1 2 ok value=read
				B acquire 3 4 ok value=read
				C release 2.5 9 ok
				A release 5 6 ok
				B release 10 11 ok`,
			want:    Fail,
			story:   "C's acquire of k had no known outcome, but its release answered OK at 0.009 s, so it had held the lock; A held it from 0.002 s, and with 1 other holder there was no instant",
			witness: []string{"2 A acquire ok", "2.5 C release invoke", "4 B acquire ok", "9 C release ok"},
		},
		{
			name: "ok: an unknown write surfaced between two readers",
			history: `
				C acquire 0 0.5 info
				A acquire 1 2 ok value=read
				W acquire 2 2.2 fail
				A release 3 3.5 ok
				B acquire 4 5 ok value=read
				C release 2.5 9 ok
				B release 10 11 ok`,
			want: Pass,
		},
		{
			name: "ok: an unknown read surfaced under a reader",
			history: `
				C acquire 0 0.5 info value=read
				A acquire 1 2 ok value=read
				B acquire 2 2.2 fail
				C release 2.5 9 ok
				A release 10 11 ok`,
			want: Pass,
		},
		{
			name: "unknown: no reader was ever let in",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail value=read
				A release 3 4 ok`,
			want: Unknown, story: "a shared lock was asked for once and never granted",
		},
		{
			name: "unknown: readers alone do not contend",
			history: `
				A acquire 0 1 ok value=read
				B acquire 1 2 ok value=read
				A release 3 4 ok
				B release 3 4 ok`,
			want: Unknown, story: "there was no contention",
		},
		{
			name: "bad: a mode that is none shares with nobody",
			history: `
				A acquire 0 1 ok value=reads
				B acquire 1 2 ok value=reads`,
			want: Fail,
		},
	})
	try(t, LeaseExclusion, []trial{
		{
			name: "ok: the reader's lease had ended",
			history: `
				A acquire 0 1 ok value=read deadline=5
				B acquire 0 1 ok value=read deadline=7
				C acquire 4 6 fail
				C acquire 7 8 ok`,
			want: Pass,
		},
		{
			name: "bad: the other reader's lease had not",
			history: `
				A acquire 0 1 ok value=read deadline=5
				B acquire 0 1 ok value=read deadline=9
				C acquire 7 8 ok`,
			want: Fail, witness: []string{"1 B acquire ok", "8 C acquire ok"},
		},
		{
			name: "ok: a re-entry renews",
			history: `
				A acquire 0 1 ok value=reenter deadline=5
				A acquire 3 4 ok value=reenter deadline=9
				B acquire 4 5 fail
				A release 10 11 fail
				B acquire 12 13 ok value=reenter
				B release 14 15 ok`,
			want: Pass,
		},
	})
}

func TestSharedOwnership(t *testing.T) {
	try(t, Ownership, []trial{
		{
			name: "ok: another reader takes nothing away",
			history: `
				C acquire 0 1 ok ttl=100 value=read
				A acquire 0 1 ok ttl=100 value=read
				W acquire 1 2 fail ttl=100
				C release 3 4 ok
				B acquire 5 6 ok ttl=100 value=read
				A release 7 8 ok
				B release 7 8 ok`,
			want: Pass,
		},
		{
			name: "either: a reader's release let a writer in (P40), or the lock did",
			history: `
				C acquire 0 1 ok ttl=100 value=read
				A acquire 0 1 ok ttl=100 value=read
				C release 3 4 ok
				B acquire 5 6 ok ttl=100 value=read
				W acquire 7 8 ok ttl=100
				A release 9 10 ok`,
			want: Unknown, story: "either that ended A's hold, or W was let in beside A",
		},
	})
}

func TestUnstableReads(t *testing.T) {
	try(t, ResourceSafety, []trial{
		{
			name: "bad: a writer wrote under a reader",
			history: `
				A acquire 0 1 ok value=read
				A read 1 2 ok version=0
				B acquire 2 3 ok
				B read 3 4 ok version=0
				B write 4 5 ok version=0
				A read 6 7 ok version=1`,
			want: Fail, story: "A knew k at version 0 from 0.002 s on, and still in its section it read version 1 at 0.007 s, which was not its own: 1 unstable read.",
			witness: []string{"2 A read ok", "5 B write ok", "7 A read ok"},
		},
		{
			name: "ok: one's own writes, known or not",
			history: `
				A acquire 0 1 ok
				B acquire 1 2 fail
				A read 1 2 ok version=0
				A write 3 4 ok version=0
				A read 5 6 ok version=1
				A write 7 8 info
				A read 9 10 ok version=2`,
			want: Pass,
		},
	})
}

// TestSharedDifferential compares the engines with each other and with the definition, on
// random histories of readers and writers, and of workers that re-enter.
func TestSharedDifferential(t *testing.T) {
	const seed = 20250102
	n := effort.Count(2_000, 6_000)
	illegal := 0
	mixes := [][]histories.Mode{
		{histories.Exclusive, histories.Shared},
		{histories.Reentrant},
		{histories.Exclusive, histories.Reentrant, histories.Shared},
	}
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		events := randomHistory(rng)
		mix := mixes[i%len(mixes)]
		for j := range events {
			if e := &events[j]; e.F == histories.Acquire {
				e.Value = string(mix[e.Attempt%uint64(len(mix))])
			}
		}
		keys, err := divide(events, Options{})
		if err != nil {
			t.Fatalf("history %d of seed %d is no history: %v", i, seed, err)
		}
		for name, read := range map[string]reading{"strict": strictSections, "lease": leaseSections} {
			sections := read(keys[0])
			overlaps := sweepParties(sections).n
			linear := porcupine.CheckOperations(parties(t.Context(), sections), appendPlain(nil, operations(sections)))
			definition := excludesParties(events, name == "lease")
			if (overlaps == 0) != definition || linear != definition {
				t.Fatalf("history %d of seed %d, %s reading: interval engine %d overlaps, porcupine %v, definition %v\n%s",
					i, seed, name, overlaps, linear, definition, show(events))
			}
			if got := linearizable(t.Context(), sections, time.Minute); (got == porcupine.Ok) != definition {
				t.Fatalf("history %d of seed %d, %s reading: cut to pieces porcupine says %v, definition %v\n%s", i, seed, name, got, definition, show(events))
			}
			if !definition {
				illegal++
			}
		}
	}
	t.Logf("%d of %d are illegal", illegal, 2*n)
	if illegal < n/5 || illegal > 2*n-n/5 {
		t.Errorf("%d of %d are illegal, so the comparison says little", illegal, 2*n)
	}
}

// excludesParties reads the definition out, as excludes does.
func excludesParties(events []histories.Event, lease bool) bool {
	of := map[uint64]histories.Hold{}
	for _, e := range events {
		if e.F == histories.Acquire && e.Type == histories.Invoke {
			of[e.Attempt] = histories.Hold{Mode: e.Mode(), Worker: e.Worker, Attempt: e.Attempt}
		}
	}
	free := func(instant int, mine uint64) bool {
		for a := range believers(events, lease, instant) {
			if a != mine && !of[a].Shares(of[mine]) {
				return false
			}
		}
		return true
	}
	for instant := range 2 * len(events) {
		for a := range believers(events, lease, instant) {
			if !free(instant, a) {
				return false
			}
		}
	}
	within := func(o histories.Op, from int) bool { // at some instant of a call the key was nobody else's
		for instant := max(from, 2*o.Invoke.Index+1); instant <= 2*o.Complete.Index; instant++ {
			if free(instant, o.Invoke.Attempt) {
				return true
			}
		}
		return false
	}
	ops, _ := histories.Pair(events)
	unknown, surfaced := map[uint64]bool{}, map[uint64]bool{}
	for _, o := range ops {
		switch {
		case o.Invoke.F == histories.Acquire:
			unknown[o.Invoke.Attempt] = o.Outcome() == histories.Info
			over := o.Outcome() == histories.OK && !believers(events, lease, 2*o.Complete.Index+1)[o.Invoke.Attempt]
			if over && !within(o, ends{told: lease}.first(events, o.Invoke.Index, o.Complete.Index)) { // it was granted, though that was over when it returned
				return false
			}
		case o.Invoke.F == histories.Release && o.Outcome() == histories.OK && unknown[o.Invoke.Attempt] && !surfaced[o.Invoke.Attempt]:
			surfaced[o.Invoke.Attempt] = true
			if !within(o, 0) {
				return false
			}
		}
	}
	return true
}
