package docker

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/nemesis"
)

// stand is one cluster on which every nemesis is tried, one after the other. What it
// does is looked at past lockbench: by redis-cli inside the containers, and by what the
// engine says of them.
type stand struct {
	*Cluster
	t        *testing.T
	injector *nemesis.Injector
	recorder *histories.Recorder
}

// clock is the machine's.
type clock struct{}

func (clock) Now() time.Time                         { return time.Now() }
func (clock) After(d time.Duration) <-chan time.Time { return time.After(d) }
func (clock) In(d time.Duration) time.Duration       { return d }

func (clock) Sleep(_ context.Context, d time.Duration) error {
	time.Sleep(d)
	return nil
}

// memory is that of a client who believes nothing.
type memory struct{}

func (memory) Crash(kill func() error) error { return kill() }
func (memory) Restart()                      {}

// scene is the cluster, and the clients that can be hit.
func scene(c *Cluster, clients ...nemesis.Victim) nemesis.Scene {
	return nemesis.Scene{Cluster: c, Shards: 1, Kept: cluster.Place{Names: []string{"k"}}, TTL: time.Second, Clock: clock{}, Clients: clients}
}

// made makes the fault that schedules call so.
func made(tb testing.TB, s nemesis.Scene, word string, target nemesis.Target) nemesis.Fault {
	tb.Helper()
	k, err := nemesis.FindWritten(word)
	must(tb, err)
	f, err := k.Make(s, target)
	must(tb, err)
	return f
}

// begin makes the fault that schedules call so and brings it about. A client that it hits is A.
func (s stand) begin(word string, target nemesis.Target) {
	s.t.Helper()
	s.start(made(s.t, scene(s.Cluster, nemesis.Victim{Name: "A", Gate: new(nemesis.Gate)}), word, target))
}

// start brings f about.
func (s stand) start(f nemesis.Fault) {
	s.t.Helper()
	must(s.t, s.injector.Start(soon(s.t), f))
}

// heal ends what is in force.
func (s stand) heal() {
	s.t.Helper()
	must(s.t, s.injector.HealAll(soon(s.t)))
}

// told checks what was recorded of the latest fault.
func (s stand) told(want string) {
	s.t.Helper()
	ops, err := histories.Pair(s.recorder.Events())
	must(s.t, err)
	last := ops[len(ops)-1]
	if last.Outcome() != histories.OK || !regexp.MustCompile("^"+want+"$").MatchString(last.Complete.Value) {
		s.t.Errorf("%s ended as %v with %q, want %q", last.Invoke.F, last.Outcome(), last.Complete.Value, want)
	}
}

// state is what the engine says of a container.
func (s stand) state(name string) (running, paused bool) {
	s.t.Helper()
	said, err := s.look(soon(s.t), s.Machines[name])
	must(s.t, err)
	return said.State.Running, said.State.Paused
}

func (s stand) inside(args ...string) string {
	s.t.Helper()
	return inside(s.t, s.Cluster, "master", args...)
}

func atMaster() nemesis.Target { return nemesis.Target{Nodes: []string{"master"}} }

// TestNemesis brings about every fault that this backend has. Those that are not looked
// at here are seen through, and looked at in the tests of package nemesis.
func TestNemesis(t *testing.T) {
	c := up(t, 1, 1)
	looks := map[string]func(stand){
		"pause":            pauseClient,
		"partition":        partition,
		"restart":          restart,
		"stall":            stall,
		"replication":      replication,
		"failover":         failover,
		"disconnect":       pullCable,
		"isolate":          isolate,
		"drop-replication": dropReplication,
	}
	kinds := slices.DeleteFunc(nemesis.All(), nemesis.Kind.Scripted)
	for name := range looks {
		if !slices.ContainsFunc(kinds, func(k nemesis.Kind) bool { return k.Name == name && k.Unsupported(c) == nil }) {
			t.Errorf("there is no nemesis %s here", name)
		}
	}
	last := slices.IndexFunc(kinds, func(k nemesis.Kind) bool { return k.Name == "failover" }) // no way back
	failover := kinds[last]
	kinds = append(slices.Delete(kinds, last, last+1), failover)
	for _, k := range kinds {
		if k.Unsupported(c) != nil {
			continue
		}
		if looks[k.Name] == nil && (k.Promotes || k.Sentinels > 0) {
			continue // other topologies: TestSuccessions, TestSentinelsFailOver
		}
		t.Run(k.Name, func(t *testing.T) {
			must(t, c.Sync(soon(t), "master"))
			rec := histories.NewRecorder(nil)
			start := time.Now()
			rec.Start(func() time.Duration { return time.Since(start) })
			s := stand{c, t, nemesis.NewInjector(rec), rec}
			if k.Try != nil {
				must(t, k.Try(soon(t), c))
			}
			if look := looks[k.Name]; look != nil {
				look(s)
			}
			if k.Name == "failover" {
				return
			}
			fault, ok := k.Draw(scene(c, nemesis.Victim{
				Name: "Z", Gate: new(nemesis.Gate), Clock: player.NewSkew(clock{}), Memory: memory{},
				Holds: func() bool { return true }, Calls: func() bool { return false },
			}), rand.New(rand.NewPCG(3, 4)))
			if !ok || fault.F != k.F {
				t.Fatalf("drew %+v, %v", fault, ok)
			}
			s.start(fault)
			s.heal()
			mustDo(t, dial(t, c, "Z", "master"), "PING")
		})
	}
}

func pauseClient(s stand) {
	conn := dial(s.t, s.Cluster, "A", "master")
	mustDo(s.t, conn, "DEL", "k")
	s.begin("pause", nemesis.Target{Clients: []string{"A"}})
	answer := send(conn, "SET", "k", "v")
	mustDo(s.t, dial(s.t, s.Cluster, "B", "master"), "PING")
	if s.inside("EXISTS", "k") != "0" {
		s.t.Error("the client goes on")
	}
	notYet(s.t, answer)
	s.heal()
	must(s.t, <-answer)
	if s.inside("GET", "k") != "v" {
		s.t.Error("what it sent did not arrive")
	}
}

func partition(s stand) {
	conn := dial(s.t, s.Cluster, "A", "master")
	mustDo(s.t, conn, "DEL", "k")
	s.begin("partition", nemesis.Target{Clients: []string{"A"}})
	if _, err := conn.Do(soon(s.t), "SET", "k", "v"); err == nil || s.inside("EXISTS", "k") != "0" {
		s.t.Errorf("SET behind the cut: %v", err)
	}
	if nc, err := s.Dial(soon(s.t), "A", "master"); err == nil {
		s.t.Error("it was dialed", nc.Close())
	}
	mustDo(s.t, dial(s.t, s.Cluster, "B", "master"), "PING")
	s.heal()
	mustDo(s.t, dial(s.t, s.Cluster, "A", "master"), "PING")
}

// dead waits until the engine, too, knows that a container does not run.
func (s stand) dead(name string) {
	s.t.Helper()
	select {
	case <-s.Machines[name].latest().done:
	case <-soon(s.t).Done():
		s.t.Fatal(name, " lives")
	}
	if running, _ := s.state(name); running {
		s.t.Error(name, " lives, and the engine said that it had ended")
	}
}

func restart(s stand) {
	s.inside("SET", "k", "v")
	s.begin("restart", atMaster())
	s.dead("master")
	s.heal()
	if running, _ := s.state("master"); !running || s.inside("DBSIZE") != "0" {
		s.t.Error("it is not running, or not empty")
	}
	must(s.t, s.Sync(soon(s.t), "master"))
}

func stall(s stand) {
	conn := dial(s.t, s.Cluster, "A", "master")
	mustDo(s.t, conn, "DEL", "k")
	s.begin("stall", atMaster())
	if running, paused := s.state("master"); !running || !paused {
		s.t.Error("it is dead, or goes on")
	}
	answer := send(conn, "SET", "k", "v")
	unanswered(s.t, s.Cluster, "master")
	notYet(s.t, answer)
	s.heal()
	must(s.t, <-answer)
	if _, paused := s.state("master"); paused || s.inside("GET", "k") != "v" {
		s.t.Error("it stands still, or has lost what it was sent")
	}
}

func replication(s stand) {
	s.begin("cut-replication", nemesis.Target{Replica: "replica"})
	if s.inside("SET", "cut", "v") != "OK" || s.inside("WAIT", "1", "100") != "0" {
		s.t.Error("the master has a replica")
	}
	if inside(s.t, s.Cluster, "replica", "EXISTS", "cut") != "0" {
		s.t.Error("the replica has a write from behind the cut")
	}
	s.heal()
	must(s.t, s.Sync(soon(s.t), "master"))
	if inside(s.t, s.Cluster, "replica", "GET", "cut") != "v" {
		s.t.Error("the replica has not caught up")
	}
}

func failover(s stand) {
	s.inside("SET", "kept", "v")
	must(s.t, s.Sync(soon(s.t), "master"))
	must(s.t, s.CutReplication(soon(s.t), "replica"))
	s.inside("SET", "lost", "v")
	s.begin("failover", nemesis.Target{Replica: "replica"})
	s.told("replica is the master now, has [0-9]+ of [0-9]+ of the old one's stream")
	s.dead("master")
	if s.Primary(0) != "replica" {
		s.t.Errorf("the master is %s", s.Primary(0))
	}
	if role := inside(s.t, s.Cluster, "replica", "ROLE"); !regexp.MustCompile(`^master\n`).MatchString(role) {
		s.t.Errorf("the replica says that it is %s", role)
	}
	if got := inside(s.t, s.Cluster, "replica", "MGET", "kept", "lost"); got != "v" { // an absent key prints nothing
		s.t.Errorf("of the key that it had and the one that it had not it has: %q", got)
	}
}

func pullCable(s stand) {
	cables := func() string { // some kernels give every container devices for tunnels, too
		return shell(s.t, s.Cluster, "master", "sh", "-c", "ls /sys/class/net | grep -c ^eth || true")
	}
	s.inside("SET", "k", "v")
	if got := cables(); got != "1" {
		s.t.Errorf("it has %s cables, want 1", got)
	}
	s.begin("disconnect", atMaster())
	unanswered(s.t, s.Cluster, "master")
	if s.inside("PING") != "PONG" || cables() != "0" {
		s.t.Error("it is dead, or has its cable")
	}
	s.heal()
	s.told("it did not answer PING; back on its network it does")
	if mustDo(s.t, dial(s.t, s.Cluster, "A", "master"), "GET", "k") != "v" {
		s.t.Error("it has lost what it held")
	}
}

func isolate(s stand) {
	for plan, tc := range map[string]struct {
		way      nemesis.Way
		executes bool
	}{
		"nothing gets through to it":            {nemesis.ToIt, false},
		"nothing gets through from it":          {nemesis.FromIt, true},
		"nothing gets through to it or from it": {nemesis.BothWays, false},
	} {
		fault := made(s.t, scene(s.Cluster), "isolate", nemesis.Target{Nodes: atMaster().Nodes, Way: tc.way})
		if fault.Plan != plan {
			s.t.Errorf("planned %q, want %q", fault.Plan, plan)
		}
		conn := dial(s.t, s.Cluster, "A", "master")
		mustDo(s.t, conn, "DEL", "k")
		s.start(fault)
		answer := send(conn, "SET", "k", "v")
		unanswered(s.t, s.Cluster, "master")
		if tc.executes {
			until(s.t, "the command to be executed", func() bool { return s.inside("EXISTS", "k") == "1" })
		} else if s.inside("EXISTS", "k") != "0" {
			s.t.Error("it heard a command")
		}
		notYet(s.t, answer)
		s.heal()
		s.told("[1-9][0-9]* packets were dropped; it did not answer PING, and does again")
		must(s.t, <-answer)
		if got := s.inside("GET", "k"); got != "v" {
			s.t.Errorf("after healing k is %q", got)
		}
		// The stream comes back by itself: its connection never ended.
		must(s.t, s.Sync(soon(s.t), "master"))
	}
}

func dropReplication(s stand) {
	for plan, way := range map[string]nemesis.Way{
		"packets between it and its master are lost": nemesis.BothWays,
		"packets to it from its master are lost":     nemesis.ToIt,
		"packets from it to its master are lost":     nemesis.FromIt,
	} {
		s.inside("DEL", "k")
		must(s.t, s.Sync(soon(s.t), "master"))
		f := made(s.t, scene(s.Cluster), "drop-replication", nemesis.Target{Replica: "replica", Way: way})
		if f.Plan != plan {
			s.t.Errorf("planned %q, want %q", f.Plan, plan)
		}
		s.start(f)
		s.inside("SET", "k", "v")
		arrived := func() bool { return inside(s.t, s.Cluster, "replica", "EXISTS", "k") == "1" }
		// Where acknowledgements alone are lost it may arrive or not: without them the master's
		// TCP soon sends nothing more.
		if way != nemesis.FromIt && arrived() {
			s.t.Errorf("%s, and the write arrived", plan)
		}
		if links := regexp.MustCompile(`connected_slaves:1`).MatchString(s.inside("INFO", "replication")); !links {
			s.t.Error("the master noticed that the link is gone")
		}
		s.heal()
		s.told("[1-9][0-9]* packets were dropped; it had [0-9]+ of [0-9]+ of its master's stream")
		must(s.t, s.Sync(soon(s.t), "master"))
		if !arrived() {
			s.t.Errorf("%s: after healing the write is not there", plan)
		}
	}
}
