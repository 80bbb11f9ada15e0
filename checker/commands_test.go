package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// wired reads commands, one per line, times in milliseconds: A 1.2 1.4 OK SET k a NX PX 10. A
// reply of - is none. A last word of @m2 names the server, which is m1 else.
func wired(t testing.TB, text string) *Commands {
	t.Helper()
	s := scripted{t: t}
	var x []histories.Exchange
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		node, named := strings.CutPrefix(f[len(f)-1], "@")
		if named {
			f = f[:len(f)-1]
		} else {
			node = "m1"
		}
		e := histories.Exchange{Client: f[0], Sent: s.ms(f[1]), Node: node, Conn: 1, Seq: len(x) + 1, Words: f[4:], Command: strings.Join(f[4:], " ")}
		if f[3] != "-" {
			e.Replied, e.Reply = s.ms(f[2]), f[3]
		}
		x = append(x, e)
	}
	slices.SortFunc(x, histories.Exchange.Compare)
	return NewCommands(x, nil, "register")
}

// What crossed the wire tells which of two releases it was, and acquits those that ended
// nothing.
func TestOwnershipByTheWire(t *testing.T) {
	// B's hold vanishes, and A's and D's releases may both have ended it.
	const two = `
		A acquire 0 1 ok ttl=100
		D acquire 101 102 ok ttl=5
		B acquire 110 111 ok ttl=100
		A release 120 123 ok
		D release 121 124 ok
		C acquire 130 131 ok ttl=100
		C release 140 141 ok`
	const taken = `
		A 0.2 0.8 OK SET k a NX PX 100
		D 101.2 101.8 OK SET k d NX PX 5
		B 110.2 110.8 OK SET k b NX PX 100
		`
	const freed = `
		C 130.2 130.8 OK SET k c NX PX 100`
	try(t, Ownership, []trial{
		{name: "bad: which of the two is not known", history: two, want: Fail, story: "D's release or A's release ended B's hold."},
		{
			name: "bad: it was A's", history: two,
			options: Options{Commands: wired(t, taken+`
				A 120.2 120.8 1 DEL k
				D 121.2 121.8 0 DEL k`+freed)},
			want: Fail, story: "A's release ended B's hold with DEL k → 1.",
		},
		{
			name: "bad: it was D's, whose reply came first", history: two,
			options: Options{Commands: wired(t, taken+`
				A 122.2 122.8 0 DEL k
				D 121.2 121.8 1 DEL k`+freed)},
			want: Fail, story: "D's release ended B's hold with DEL k → 1.",
		},
		{
			name: "ok: both deleted nothing, and one of them in another database", history: two,
			options: Options{Commands: wired(t, taken+`
				A 119.2 119.8 OK SELECT 3
				A 120.2 120.8 0 DEL k
				D 121.2 121.8 0 DEL k`+freed)},
			want: Pass, story: "Lock lost: 1 hold ended within the lease",
		},
		{
			name: "bad: a command whose reply nobody saw may have done it", history: two,
			options: Options{Commands: wired(t, taken+`
				A 120.2 120.8 - DEL k
				D 121.2 121.8 0 DEL k`+freed)},
			want: Fail, story: "D's release or A's release ended B's hold.",
		},
		{
			name: "bad: A's extend left B's key less time than its lease", history: `
				A acquire 0 1 ok ttl=10
				B acquire 20 21 ok ttl=100
				A extend 30 31 ok ttl=20
				C acquire 60 61 ok ttl=100
				C release 70 71 ok`,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 OK SET k a NX PX 10
				B 20.2 20.8 OK SET k b NX PX 100
				A 30.2 30.8 1 PEXPIRE k 20
				C 60.2 60.8 OK SET k c NX PX 100`)},
			want: Fail, story: "A's extend ended B's hold with PEXPIRE k 20 → 1.",
		},
		{
			name: "bad: of B's acquire the wire has nothing", history: two,
			options: Options{Commands: wired(t, `
				A 120.2 120.8 0 DEL k
				D 121.2 121.8 0 DEL k`)},
			want: Fail, story: "D's release or A's release",
		},
	})
}

// A key that was given a time to live in the wrong unit is gone when its holder releases it.
func TestRepliesByTheWire(t *testing.T) {
	const denied = `
		A acquire 0 1 ok ttl=3000
		B acquire 2 3 fail ttl=3000
		A release 100 101 fail`
	try(t, TruthfulReplies, []trial{
		{name: "bad: nothing is known of the wire", history: denied, want: Fail, story: "it was told that the lock was not its own"},
		{
			name: "bad: the key was to live as long as was asked for", history: denied, want: Fail,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 OK SET k a NX PX 3000
				A 100.2 100.8 0 DEL k`)},
		},
		{
			name: "ok: it was to live for 3 ms, in place of 3 s", history: denied + `
				C acquire 200 201 ok ttl=3000
				C release 202 203 ok`,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 OK SET k a NX PX 3
				A 100.2 100.8 0 DEL k`)},
			want: Pass,
		},
		{
			name: "ok: another, who was refused, had written over it", history: denied + `
				C acquire 200 201 ok ttl=3000
				C release 202 203 ok`,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 nil SET k a PX 3000 GET
				B 2.2 2.8 a SET k b PX 3000 GET
				A 100.2 100.8 0 DEL k`)},
			want: Pass,
		},
		{
			name: "bad: another has written over it on one of three servers", history: denied, want: Fail,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 OK SET k a PX 3000 @m1
				A 0.2 0.8 OK SET k a PX 3000 @m2
				A 0.2 0.8 OK SET k a PX 3000 @m3
				B 2.2 2.8 OK SET k b PX 3000 @m3
				A 100.2 100.8 0 DEL k @m1`)},
		},
		{
			name: "bad: it was prolonged since", history: denied, want: Fail,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 OK SET k a NX PX 30
				A 1.2 1.8 1 PEXPIRE k 3000
				A 100.2 100.8 0 DEL k`)},
		},
	})
}

// The wire tells nothing of leases: where few calls were made, every order of them is searched as ever.
func TestLeasesByTheWire(t *testing.T) {
	try(t, LeaseHonoured, []trial{{
		name: "bad: no order of the calls explains them",
		history: `
			C acquire 0 1860 ok ttl=1000
			B acquire 690 700 ok ttl=1000
			A acquire 2110 2120 ok ttl=10000`,
		options: Options{Commands: wired(t, `
			B 690.2 690.8 OK SET k b NX PX 1000
			C 1800 1800.8 OK SET k c NX PX 1000
			A 2110.2 2110.8 OK SET k a NX PX 10000`)},
		want: Fail, story: "whatever their order was",
	}})
}

// The wire tells who left a key behind.
func TestDeadlockByTheWire(t *testing.T) {
	const orphan = `
		A acquire 0 1 ok ttl=100
		C acquire 2 3 fail ttl=100
		A release 10 11 ok
		B acquire 20 21 ok ttl=100
		B crash 22
		! audit 900 node=m1 ttl=none value=a`
	try(t, DeadlockFreedom, []trial{
		{name: "nothing is known of the wire", history: orphan, want: Fail, story: "It was probably left behind by B, which crashed at 0.022 s."},
		{
			name: "a renewal came after its release", history: orphan, want: Fail,
			options: Options{Commands: wired(t, `
				A 0.2 0.8 OK SET k a NX PX 100
				A 10.2 10.8 1 DEL k
				B 20.2 20.8 OK SET k b NX PX 100
				A 200 200.8 OK SET k a`)},
			story: "It was left behind by A, whose SET k a → OK made it last, at 0.200 s, after its release had returned at 0.011 s.",
		},
	})
}

// Time in which a command is under way is no waiting.
func TestLoadByTheWire(t *testing.T) {
	const waited = `
		A acquire 0 1 ok ttl=3000
		A release 1001 1002 ok
		B acquire 2 1002 ok ttl=3000
		B waited 1002 value=40`
	// pace sends 40 commands, each answered after took, with rest between them.
	pace := func(name string, took, rest time.Duration) *Commands {
		var x []histories.Exchange
		at := 2 * time.Millisecond
		for range 40 {
			x = append(x, histories.Exchange{Client: "B", Node: "m1", Conn: 1, Sent: at, Replied: at + took, Command: name + " k", Reply: "nil"})
			at += took + rest
		}
		return NewCommands(x, nil, "register")
	}
	try(t, Load, []trial{
		{name: "ok: nothing is known of the wire", history: waited, want: Pass},
		{name: "bad: it spins on a slow machine", history: waited, options: Options{Commands: pace("SET", 24*time.Millisecond, 0)}, want: Fail, story: "and sent 40 commands meanwhile: for all but 0.040 s of that time one was under way"},
		{name: "ok: it rests between two tries", history: waited, options: Options{Commands: pace("SET", 5*time.Millisecond, 20*time.Millisecond)}, want: Pass},
		{name: "ok: it blocks on the server", history: waited, options: Options{Commands: pace("BLPOP", 24*time.Millisecond, 0)}, want: Pass},
		{name: "bad: more often than it promises", history: waited, options: Options{Poll: 100 * time.Millisecond}, want: Fail, story: "with 0.100 s between two tries, as the lock promises, 24 are enough"},
		{name: "ok: as often as it promises", history: waited, options: Options{Poll: 20 * time.Millisecond}, want: Pass},
		{name: "ok: as often as it promises, on five masters", history: waited, options: Options{Poll: 100 * time.Millisecond, Masters: 5}, want: Pass},
	})
}
