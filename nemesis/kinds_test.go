package nemesis_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// probe is how one kind of fault shows, to clients and on servers. It begins with the
// string v under k, which lives for another minute, and scriptOne in the script cache.
type probe struct {
	// inForce looks while the fault lasts. Nil: it is over as soon as it has begun.
	inForce func(tr trial)
	// after looks once it is over. Nil: what is looked at after every fault is enough.
	after func(tr trial)
}

// probes has one of each kind. TestEveryKind fails for a kind without.
func probes() map[string]probe {
	return map[string]probe{
		"pause": {inForce: func(tr trial) {
			tr.unanswered("A")
			soon, cancel := context.WithTimeout(ctx, soon)
			defer cancel()
			if !tr.gate.Wait(soon) {
				tr.t.Error("the client's own code goes on")
			}
		}},
		"crash": {
			inForce: func(tr trial) {
				tr.refused("A")
				if tr.memory.wiped != 1 || tr.memory.reborn != 0 {
					tr.t.Errorf("the client's memory is %+v", *tr.memory)
				}
			},
			after: func(tr trial) {
				if tr.memory.reborn != 1 {
					tr.t.Errorf("the client's memory is %+v", *tr.memory)
				}
			},
		},
		"partition": {inForce: func(tr trial) { tr.refused("A") }},
		"one-way":   {inForce: func(tr trial) { tr.unanswered("A") }},
		"late":      {inForce: func(tr trial) { tr.unanswered("A") }},
		"lost-reply": {inForce: func(tr trial) {
			if err := tr.fails(answerLimit, "A", "SET", "k", "w"); errors.Is(err, context.DeadlineExceeded) {
				tr.t.Error("the connection hangs")
			}
			tr.want("w", "GET", "k")
		}},
		"hung-reply": {inForce: func(tr trial) {
			if err := tr.fails(time.Second, "A", "SET", "k", "w"); !errors.Is(err, context.DeadlineExceeded) {
				tr.t.Errorf("the connection does not hang: %v", err)
			}
			tr.want("w", "GET", "k")
		}},
		"latency": {inForce: func(tr trial) {
			began := time.Now()
			if got, err := tr.ask(answerLimit, "A", "PING"); got != "PONG" {
				tr.t.Errorf("A got %q, %v", got, err)
			}
			if took := time.Since(began); took < 10*time.Millisecond {
				tr.t.Errorf("a round trip took %v", took)
			}
		}},
		"renewal-cut": {
			inForce: func(tr trial) { _ = tr.fails(answerLimit, "A", "PEXPIRE", "k", "600000") },
			after: func(tr trial) {
				if ttl := tr.held("master", "k").TTL; ttl > time.Minute {
					tr.t.Errorf("k was renewed: it lives for another %v", ttl)
				}
			},
		},
		"subscriber-cut": {inForce: func(tr trial) { _ = tr.fails(answerLimit, "A", "SUBSCRIBE", "c") }},
		"duplicate": {inForce: func(tr trial) {
			if got, err := tr.ask(answerLimit, "A", "APPEND", "k", "+"); got != "3" {
				tr.t.Errorf("A got %q, %v", got, err)
			}
			tr.want("v++", "GET", "k")
		}},
		"restart": {
			inForce: func(tr trial) { tr.dead("master") },
			after:   func(tr trial) { tr.want("0", "EXISTS", "k") },
		},
		"restart-aof": {
			inForce: func(tr trial) { tr.dead("master") },
			after:   func(tr trial) { tr.want("v", "GET", "k") },
		},
		"restart-delayed": {
			inForce: func(tr trial) { tr.dead("master") },
			after:   func(tr trial) { tr.want("0", "EXISTS", "k") },
		},
		"power-loss": {
			inForce: func(tr trial) { tr.want("OK", "SET", "k", "late") },
			after:   func(tr trial) { tr.want("v", "GET", "k") },
		},
		"oom": {
			inForce: func(tr trial) { tr.want("OOM", "SET", "new", "v") },
			after:   func(tr trial) { tr.want("v", "GET", "k") },
		},
		"stall": {
			inForce: func(tr trial) { tr.unanswered("Z") },
			after:   func(tr trial) { tr.want("v", "GET", "k") },
		},
		"clock":             clockProbe(),
		"clock-rate":        {inForce: func(tr trial) { tr.drifts(tr.serverTime) }, after: func(tr trial) { tr.isRight(tr.serverTime) }},
		"client-clock":      {inForce: func(tr trial) { tr.isWrong(tr.clientTime) }, after: func(tr trial) { tr.isRight(tr.clientTime) }},
		"client-clock-rate": {inForce: func(tr trial) { tr.drifts(tr.clientTime) }, after: func(tr trial) { tr.isRight(tr.clientTime) }},
		"replication": {
			inForce: func(tr trial) {
				tr.want("OK", "SET", "k", "late")
				if have, sent := tr.offsets("replica"); have >= sent {
					tr.t.Errorf("the replica has %d of %d", have, sent)
				}
				if got := tr.held("replica", "k").Value; got != "v" {
					tr.t.Errorf("the replica has %q, want what it had before", got)
				}
			},
			after: func(tr trial) {
				tr.sync()
				if got := tr.held("replica", "k").Value; got != "late" {
					tr.t.Errorf("the replica has %q, want what it missed", got)
				}
			},
		},
		"replication-lag": {
			inForce: func(tr trial) {
				began := time.Now()
				tr.want("OK", "SET", "k", "late")
				tr.arrives("replica", "k", "late")
				if took := time.Since(began); took < 500*time.Millisecond { // a quarter of the TTL
					tr.t.Errorf("a write took %v to reach the replica", took)
				}
				tr.sync()
			},
			after: func(tr trial) {
				tr.want("OK", "SET", "k", "last")
				tr.sync()
				if got := tr.held("replica", "k").Value; got != "last" {
					tr.t.Errorf("the replica has %q, want what was written last", got)
				}
			},
		},
		"failover": {after: func(tr trial) {
			tr.dead("master")
			if p := tr.Primary(0); p != "replica" {
				tr.t.Errorf("the primary is %s", p)
			}
		}},
		"sentinel": {inForce: func(tr trial) {
			tr.dead("master")
			if p := tr.Primary(0); p != "replica" {
				tr.t.Errorf("the primary is %s", p)
			}
		}},
		"split-brain": {
			inForce: func(tr trial) {
				tr.writes("OK", "master")
				tr.writes("OK", tr.Primary(0))
				if p := tr.Primary(0); p != "replica" {
					tr.t.Errorf("the primary is %s", p)
				}
			},
			after: func(tr trial) { tr.writes("READONLY", "master") },
		},
		"partial-replication": {
			inForce: func(tr trial) { tr.want("OK", "SET", "k", "late") },
			after:   func(tr trial) { tr.want("v", "GET", "k"); tr.writes("READONLY", "master") },
		},
		"demote": {
			inForce: func(tr trial) { tr.writes("READONLY", "master"); tr.writes("OK", "replica") },
			after:   func(tr trial) { tr.writes("READONLY", "master") },
		},
		// Only docker can have these; package docker looks at them.
		"disconnect":       {},
		"isolate":          {},
		"drop-replication": {},
		"script-flush": {after: func(tr trial) {
			tr.want("NOSCRIPT", "EVALSHA", shaOne, "0")
			tr.want("v", "GET", "k")
		}},
		"flush": {after: func(tr trial) { tr.want("0", "EXISTS", "k") }},
		"evict": {after: func(tr trial) { tr.want("0", "EXISTS", "k") }},
		"squatter": {
			inForce: func(tr trial) { tr.want("list", "TYPE", "k") },
			after:   func(tr trial) { tr.want("0", "EXISTS", "k") },
		},
	}
}

// clockProbe sees the life of k shortened or lengthened. Logical jumps are over at once.
func clockProbe() probe {
	moved := func(tr trial) {
		if ttl := tr.held("master", "k").TTL; (time.Minute - ttl).Abs() < 100*time.Millisecond {
			tr.t.Errorf("k lives for another %v, as if nothing had happened", ttl)
		}
	}
	return probe{inForce: moved, after: func(tr trial) {
		if !tr.lasted {
			moved(tr)
		}
	}}
}

// A script and its hash.
const scriptOne, shaOne = "return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"

const (
	// soon is how long an answer that must not come is waited for.
	soon = 50 * time.Millisecond
	// answerLimit is how long one that must come is.
	answerLimit = 30 * time.Second
)

// drawn are the kinds of faults that random runs can draw.
func drawn() []nemesis.Kind {
	return slices.DeleteFunc(nemesis.All(), nemesis.Kind.Scripted)
}

// TestEveryKind draws every kind of fault, sees that it takes effect, that this is
// recorded, and that everything works again after it.
func TestEveryKind(t *testing.T) {
	probes := probes()
	for _, k := range drawn() {
		p, ok := probes[k.Name]
		if !ok {
			t.Errorf("kind %s has no probe: say in probes() how it shows", k.Name)
			continue
		}
		delete(probes, k.Name)
		topo := cluster.Topology{Masters: 1, Replicas: k.Replicas}
		t.Run(k.Name+"/embedded", func(t *testing.T) {
			rec := histories.NewRecorder(nil)
			must(t, sim.Run(1, time.Minute, func(w *sim.World) error {
				c, err := embedded.New(w, topo, embedded.Options{})
				if err != nil {
					return err
				}
				rec.Start(w.Now)
				try(t, c, rec, k, p)
				return c.Close()
			}))
			recorded(t, k, rec)
		})
		t.Run(k.Name+"/process", func(t *testing.T) {
			t.Parallel()
			locktest.NeedRedis(t)
			topo := topo
			topo.Sentinels = k.Sentinels
			c, err := process.New(t.Context(), topo, process.Options{Dir: t.TempDir(), Clocks: k.Clocks})
			must(t, err)
			defer func() { must(t, c.Close()) }()
			if k.Clocks {
				needFaketime(t, c)
			}
			rec := histories.NewRecorder(nil)
			start := time.Now()
			rec.Start(func() time.Duration { return time.Since(start) })
			try(t, c, rec, k, p)
			recorded(t, k, rec)
		})
	}
	for name := range probes {
		t.Errorf("there is a probe of %s and no such kind", name)
	}
}

// recorded checks that the fault is in the history, over, and with what was seen of it.
func recorded(t *testing.T, k nemesis.Kind, rec *histories.Recorder) {
	t.Helper()
	ops, err := histories.Pair(rec.Events())
	must(t, err)
	if len(ops) == 0 {
		return // the backend cannot have it
	}
	for _, o := range ops {
		if o.Outcome() != histories.OK || o.Complete.Value == "" {
			t.Errorf("%s ended as %v, seen %q: %s", k.Name, o.Outcome(), o.Complete.Value, o.Complete.Err)
		}
		t.Logf("%s %s: %s", o.Invoke.F, o.Invoke.Node, o.Complete.Value)
	}
}

// try puts one fault through its probe. A backend that cannot have it must say why.
func try(t *testing.T, c deployment, rec *histories.Recorder, k nemesis.Kind, p probe) {
	t.Helper()
	if err := k.Unsupported(c); err != nil {
		t.Logf("not here: %v", err)
		return
	}
	injector := nemesis.NewInjector(rec)
	tr := trial{world: world{c, injector, t, realClock{}}, gate: new(nemesis.Gate), skew: player.NewSkew(rightClock{}), memory: new(memory)}
	tr.want("OK", "SET", "k", "v", "PX", "60000")
	tr.want("1", "EVAL", scriptOne, "0")
	tr.sync()
	scene := scene(tr.world)
	scene.TTL = 2 * time.Second
	victim := nemesis.Victim{
		Name: "A", Gate: tr.gate, Clock: tr.skew, Memory: tr.memory, View: new(cluster.View),
		Holds: func() bool { return true }, Calls: func() bool { return false },
	}
	scene.Clients = []nemesis.Victim{victim}
	if k.Promotes { // some of them tell clients apart
		victim.Name, victim.View, victim.Holds = "B", new(cluster.View), func() bool { return false }
		scene.Clients = append(scene.Clients, victim)
	}
	fault, ok := k.Draw(scene, random())
	if !ok || fault.F != k.F {
		t.Fatalf("drew %+v, %v", fault, ok)
	}
	if told := strings.Contains(fault.Plan, "simulated"); fault.Simulated != told {
		t.Errorf("Simulated is %v, and its plan is %q", fault.Simulated, fault.Plan)
	}
	tr.start(fault)
	if tr.lasted = tr.InForce(fault.F, fault.Target); tr.lasted {
		if p.inForce == nil {
			t.Error("it lasts, and its probe does not look at it while it does")
		} else {
			p.inForce(tr)
		}
	}
	must(t, tr.HealAll(ctx))
	if p.after != nil {
		p.after(tr)
	}
	tr.healed()
}

// trial is a fault on a deployment. Client A is the one that it hits, if it hits one;
// client Z is never hit. Its methods fail the test.
type trial struct {
	world
	gate   *nemesis.Gate // of A
	skew   *player.Skew  // of A
	memory *memory       // of A
	lasted bool          // until it was healed
}

// rightClock is the clock of the test: virtual in a bubble, and else the machine's.
type rightClock struct{ realClock }

func (rightClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
func (rightClock) In(d time.Duration) time.Duration       { return d }

// clientTime is by how much the clock of A is wrong.
func (tr trial) clientTime() time.Duration {
	tr.t.Helper()
	shown, err := tr.skew.Read(ctx)
	must(tr.t, err)
	return time.Until(shown)
}

// serverTime is by how much the clock of the master is wrong.
func (tr trial) serverTime() time.Duration {
	tr.t.Helper()
	reply, err := tr.Do(ctx, "master", "TIME")
	must(tr.t, err)
	seconds, err := strconv.ParseInt(reply.Elems[0].Text(), 10, 64)
	must(tr.t, err)
	micros, err := strconv.ParseInt(reply.Elems[1].Text(), 10, 64)
	must(tr.t, err)
	return time.Until(time.Unix(seconds, micros*1000))
}

// tolerance is by how much a right clock may seem wrong. Faults set clocks wrong by more, or,
// if they last, in the end by more.
const tolerance = 100 * time.Millisecond

// isRight looks at a clock up to a hundred times: a machine that stands still between question
// and answer makes a right one seem wrong, but never a wrong one right.
func (tr trial) isRight(wrong func() time.Duration) {
	tr.t.Helper()
	by := wrong()
	for range 100 {
		if by.Abs() <= tolerance {
			return
		}
		time.Sleep(tolerance / 10)
		by = wrong()
	}
	tr.t.Errorf("the clock is wrong by %v", by)
}

func (tr trial) isWrong(wrong func() time.Duration) {
	tr.t.Helper()
	if by := wrong(); by.Abs() <= tolerance {
		tr.t.Errorf("the clock is wrong by %v alone", by)
	}
}

// drifts waits until a clock at a wrong rate is wrong by more than tolerance. One that is
// right never is, and the test times out.
func (tr trial) drifts(wrong func() time.Duration) {
	for wrong().Abs() <= tolerance {
		time.Sleep(tolerance / 10)
	}
}

// ask sends a command over a new connection and waits for the answer for no longer than
// limit.
func (tr trial) ask(limit time.Duration, client string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	nc, err := tr.Dial(ctx, client, tr.Primary(0))
	if err != nil {
		return "", err
	}
	conn := wire.NewConn(nc)
	defer func() { _ = conn.Close() }()
	reply, err := conn.Do(ctx, args...)
	if err != nil {
		return "", err
	}
	return reply.Text(), reply.Err()
}

// want sends a command as Z, to the primary.
func (tr trial) want(want string, args ...string) {
	tr.t.Helper()
	got, err := tr.ask(answerLimit, "Z", args...)
	if err != nil {
		got = err.Error()
	}
	if len(got) < len(want) || got[:len(want)] != want {
		tr.t.Errorf("%v: got %q, want %q", args, got, want)
	}
}

// writes sends a write to a node past all links, and compares the reply or the error.
func (tr trial) writes(want, node string) {
	tr.t.Helper()
	reply, err := tr.Do(ctx, node, "SET", "written:"+node, "v")
	got := reply.Text()
	if err != nil {
		got = err.Error()
	}
	if !strings.Contains(got, want) {
		tr.t.Errorf("a write to %s: got %q, want %q", node, got, want)
	}
}

// fails sends a command that must get no answer.
func (tr trial) fails(limit time.Duration, client string, args ...string) error {
	tr.t.Helper()
	got, err := tr.ask(limit, client, args...)
	if err == nil {
		tr.t.Errorf("%s was answered: %s", client, got)
	}
	return err
}

func (tr trial) unanswered(client string) {
	tr.t.Helper()
	if err := tr.fails(soon, client, "PING"); !errors.Is(err, context.DeadlineExceeded) {
		tr.t.Errorf("%s got %v, want no answer", client, err)
	}
}

func (tr trial) refused(client string) {
	tr.t.Helper()
	if err := tr.fails(answerLimit, client, "PING"); errors.Is(err, context.DeadlineExceeded) {
		tr.t.Errorf("%s got no answer, want a refusal", client)
	}
}

func (tr trial) dead(node string) {
	tr.t.Helper()
	if tr.Alive(node) {
		tr.t.Errorf("%s is alive", node)
	}
	if nc, err := tr.Dial(ctx, "Z", node); err == nil {
		_ = nc.Close()
		tr.t.Errorf("%s takes connections", node)
	}
}

func (tr trial) held(node, key string) cluster.KeyState {
	tr.t.Helper()
	keys, err := tr.Inspect(ctx, node, 0, key)
	must(tr.t, err)
	return keys[0]
}

func (tr trial) offsets(replica string) (have, sent int64) {
	tr.t.Helper()
	have, sent, err := tr.deployment.(cluster.Replicator).Offsets(ctx, replica)
	must(tr.t, err)
	return have, sent
}

// arrives waits until a replica holds what was written. What never arrives makes the test
// time out.
func (tr trial) arrives(replica, key, value string) {
	tr.t.Helper()
	for tr.held(replica, key).Value != value {
		time.Sleep(10 * time.Millisecond)
	}
}

// sync waits until the replicas of the primary have everything.
func (tr trial) sync() {
	tr.t.Helper()
	limit, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	must(tr.t, tr.deployment.(cluster.Replicator).Sync(limit, tr.Primary(0)))
}

// healed looks whether both clients reach the primary, it is a master that takes writes,
// and its replicas follow it.
func (tr trial) healed() {
	tr.t.Helper()
	if closed, _ := tr.gate.Closed(); closed {
		tr.t.Error("the client's gate is still closed")
	}
	primary := tr.Primary(0)
	for _, client := range []string{"A", "Z"} {
		if got, err := tr.ask(answerLimit, client, "PING"); got != "PONG" {
			tr.t.Errorf("after it was healed, %s got %q, %v", client, got, err)
		}
		link := tr.Link(client, primary)
		if err := link.Refuses(); err != nil || link.Frozen(wire.Requests) || link.Frozen(wire.Replies) {
			tr.t.Errorf("%v is not what it was: %v", link, err)
		}
	}
	tr.want("OK", "SET", "healed", "v")
	tr.sync()
	for _, n := range tr.Nodes() {
		if tr.deployment.(cluster.Demoter).Master(n.Name) == primary && tr.held(n.Name, "healed").Value != "v" {
			tr.t.Errorf("%s does not follow", n.Name)
		}
	}
}
