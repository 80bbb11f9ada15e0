package causes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/causes"
)

// told is a run that is written down by hand: what nobody in the catalogue does.
type told struct {
	events []histories.Event
	sent   []histories.Exchange
}

// does adds a call of a worker, and what it sends meanwhile.
func (r *told) does(worker int, f histories.F, attempt uint64, done histories.Type, ttl time.Duration, sent ...histories.Exchange) {
	now := time.Duration(len(r.events)+len(r.sent)+1) * time.Millisecond
	e := histories.Event{Index: len(r.events), Time: now, Process: worker, Worker: worker, Type: histories.Invoke, F: f, Key: "k", Attempt: attempt, TTL: ttl}
	r.events = append(r.events, e)
	for _, x := range sent {
		now += time.Millisecond
		x.Sent, x.Client, x.Node, x.Conn, x.Seq = now-time.Millisecond/2, histories.WorkerName(worker), "master", worker+1, len(r.sent)+1
		x.Words = strings.Fields(x.Command)
		if x.Reply != "" {
			x.Replied = now - time.Millisecond/4
		} else if x.Answer != "" {
			x.Answered = now - time.Millisecond/4
		}
		r.sent = append(r.sent, x)
	}
	e.Index, e.Time, e.Type = len(r.events), now+time.Millisecond, done
	r.events = append(r.events, e)
}

// sends adds what a worker sends while no call of its is under way.
func (r *told) sends(worker int, x histories.Exchange) {
	now := time.Duration(len(r.events)+len(r.sent)+1) * time.Millisecond
	x.Sent, x.Replied, x.Client, x.Node, x.Conn, x.Seq = now, now+time.Millisecond/4, histories.WorkerName(worker), "master", worker+1, len(r.sent)+1
	x.Words = strings.Fields(x.Command)
	r.sent = append(r.sent, x)
}

func command(text, reply string) histories.Exchange {
	return histories.Exchange{Command: text, Reply: reply}
}

// TestToldByHand looks at causes that no lock of the catalogue has.
func TestToldByHand(t *testing.T) {
	const lease = time.Second
	set := func(token, ttl string) histories.Exchange { return command("SET lock:k "+token+" NX PX "+ttl, "OK") }
	refused := command("SET lock:k b NX PX 1000", "nil")
	for _, tt := range []struct {
		name     string
		property checker.Property
		run      func(*told)
		kind     checker.CauseKind
		want     string
	}{
		{
			"a release of another name", checker.TruthfulReplies,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, lease, set("a", "1000"))
				r.does(0, histories.Release, 1, histories.OK, 0, command("DEL k", "0"))
			},
			checker.NothingAsked, "A's release at event 3 was accepted, and none of its commands was on the lock's key, lock:k: DEL k → 0.",
		},
		{
			"a release that met an error", checker.Availability,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, lease, set("a", "1000"))
				r.does(0, histories.Release, 1, histories.OK, 0, command("EVALSHA 1f 1 lock:k a", `"NOSCRIPT No matching script."`))
				r.does(1, histories.Acquire, 2, histories.Fail, lease, refused)
			},
			checker.ServerRefused, "A's release at event 3 was accepted, and master had answered it with an error: EVALSHA 1f 1 lock:k a → \"NOSCRIPT No matching script.\".",
		},
		{
			"a refusal that had taken the key", checker.TruthfulReplies,
			func(r *told) {
				lost := set("a", "1000")
				lost.Reply, lost.Answer = "", "OK"
				r.does(0, histories.Acquire, 1, histories.Fail, lease, lost)
			},
			checker.KeyLeftBehind, "A's acquire was refused at event 1, and its own command had taken the key: SET lock:k a NX PX 1000 → OK, an answer that got lost.",
		},
		{
			"a lease that is too long", checker.DeadlockFreedom,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.Info, lease, set("a", "61000"))
				r.does(1, histories.Acquire, 2, histories.Fail, lease, refused)
			},
			checker.LeaseTooLong, "A asked for a lease of 1s, and its key was given 1m1s: SET lock:k a NX PX 61000 → OK.",
		},
		{
			"a refusal that prolongs", checker.DeadlockFreedom,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, lease, set("a", "1000"))
				r.does(1, histories.Acquire, 2, histories.Fail, lease, refused, command("PEXPIRE lock:k 1000", "1"))
				r.does(1, histories.Acquire, 3, histories.Fail, lease, refused)
			},
			checker.ExtendedAnothers, "B's acquire was refused at event 3, and gave the key, which was A's, a new time to live: PEXPIRE lock:k 1000 → 1; A never gave the lock back.",
		},
		{
			"an extend that nobody answered", checker.LeaseHonoured,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, 5*time.Millisecond, set("a", "5"))
				r.does(0, histories.Extend, 1, histories.OK, lease, command("PEXPIRE lock:k 1000", ""))
				for range 10 {
					r.does(0, histories.Read, 1, histories.OK, 0)
				}
				r.does(1, histories.Acquire, 2, histories.OK, lease, set("b", "1000"))
			},
			checker.Unanswered, "A's extend at event 3 was accepted, and no server had answered it: PEXPIRE lock:k 1000.",
		},
		{
			"one token for all", checker.Ownership,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, lease, set("a", "1000"))
				r.does(1, histories.Acquire, 2, histories.OK, lease, command("SET lock:k one PX 1000", "OK"))
				r.does(0, histories.Release, 1, histories.OK, 0, scripted("EVAL 1f 1 lock:k one", "1"))
			},
			checker.ReleasedAnothers, "A's release deleted a key that was B's: EVAL 1f 1 lock:k one → 1 at event 5; B had it by SET lock:k one PX 1000 at event 3, with the same token.",
		},
		{
			"an extend that adds, and came twice", checker.DeadlockFreedom,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, 5*time.Millisecond, set("a", "5"))
				twice := adds("EVAL 2f 1 lock:k a 10", "1")
				twice.First = "1"
				r.does(0, histories.Extend, 1, histories.OK, 10*time.Millisecond, twice)
				for range 10 {
					r.does(0, histories.Read, 1, histories.OK, 0)
				}
				r.does(1, histories.Acquire, 2, histories.Fail, lease, refused)
			},
			checker.MetOwnKey, "A's extend at event 3 was counted twice: the server executed EVAL 2f 1 lock:k a 10 twice, and answered 1, which was lost, and then 1; the lease that it asked for had ended at 0.016 s, and the key was there at 0.028 s.",
		},
		{
			"a renewal that is on its way when the lock is released", checker.Ownership,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, 5*time.Millisecond, set("a", "5"))
				r.sends(0, command("SET lock:k a PX 5", "OK"))
				for range 10 {
					r.does(0, histories.Read, 1, histories.OK, 0)
				}
				r.does(1, histories.Acquire, 2, histories.OK, lease, set("b", "1000"))
				r.does(0, histories.Release, 1, histories.OK, 0, command("SET lock:k a PX 5", "OK"))
			},
			checker.Trespassed, "A command that A sent in the background wrote over a key that was B's, and was not granted it: SET lock:k a PX 5 → OK at 0.029 s.",
		},
		{
			"a release of what a renewal had taken back", checker.TruthfulReplies,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, 5*time.Millisecond, set("a", "5"))
				for range 10 {
					r.does(0, histories.Read, 1, histories.OK, 0)
				}
				r.does(1, histories.Acquire, 2, histories.OK, lease, set("b", "1000"))
				r.sends(0, command("SET lock:k a PX 5000", "OK"))
				r.does(0, histories.Release, 1, histories.OK, 0, scripted("EVAL 2f 1 lock:k a", "1"))
			},
			checker.Trespassed, "A command that A sent in the background wrote over a key that was B's, and was not granted it: SET lock:k a PX 5000 → OK at 0.027 s.",
		},
		{
			"a SET during a release", checker.Ownership,
			func(r *told) {
				r.does(0, histories.Acquire, 1, histories.OK, 5*time.Millisecond, set("a", "5"))
				for range 10 {
					r.does(0, histories.Read, 1, histories.OK, 0)
				}
				r.does(1, histories.Acquire, 2, histories.OK, lease, set("b", "1000"))
				r.does(0, histories.Release, 1, histories.OK, 0, command("SET lock:k a PX 5", "OK"))
			},
			checker.Trespassed, "A command that A sent during its release wrote over a key that was B's, and was not granted it: SET lock:k a PX 5 → OK at 0.028 s.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r told
			tt.run(&r)
			var witness []int
			for _, e := range r.events {
				witness = append(witness, e.Index)
			}
			got := causes.Of(causes.Run{
				Events: r.events, Exchanges: r.sent, Names: func(key string) []string { return []string{"lock:" + key} },
				Report: checker.Report{Results: []checker.Result{{Property: tt.property, Verdict: checker.Fail, Witness: witness}}},
			})
			if len(got) != 1 || got[0].Kind != tt.kind || got[0].Sentence != tt.want {
				t.Errorf("got %+v, want %s: %s", got, tt.kind, tt.want)
			}
		})
	}
}

// scripted is a script that compares and deletes.
func scripted(text, reply string) histories.Exchange {
	x := command(text, reply)
	x.Script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
	return x
}

// adds is a script that adds to what is left of a key's time to live.
func adds(text, reply string) histories.Exchange {
	x := command(text, reply)
	x.Script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + ARGV[2]) end return 0"
	return x
}
