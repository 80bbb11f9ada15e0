package harness_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/nemesis"
)

// underSentinels is a script on a master with a replica and three Sentinels. Its lease
// outlives an election.
func underSentinels(t *testing.T, backend harness.Backend, steps string) harness.Config {
	t.Helper()
	switch backend.Name {
	case histories.BackendProcess:
		locktest.NeedRedis(t)
	case histories.BackendDocker:
		dockertest.Need(t)
	}
	return harness.Config{Deployment: harness.Deployment{Backend: backend, Replicas: 1, Sentinels: 3}, Output: harness.Output{CommandLog: true}, Test: harness.Test{
		Name: "sentinel", Workload: script(t, 2, steps), Faults: true,
		Lock: find(t, "setnx-px-lua"), TTL: time.Minute, Seed: 1,
	}}
}

// onServers runs f on each backend that has Sentinels.
func onServers(t *testing.T, f func(t *testing.T, backend harness.Backend)) {
	t.Helper()
	for _, backend := range []harness.Backend{harness.Process(), docker.Backend()} {
		t.Run(backend.Name, func(t *testing.T) { f(t, backend) })
	}
}

// wentTo says which node answered the first command of that name of a client.
func wentTo(res harness.Result, client, command string) string {
	for _, x := range res.Exchanges {
		if x.Client == client && x.Replied > 0 && strings.HasPrefix(x.Command, command+" ") {
			return x.Node
		}
	}
	return "nowhere"
}

// go-redis' failover client follows the Sentinels: a client that was connected to the old
// master, and has never heard of a failover, gets the lock on the new one.
func TestFailoverClientFollows(t *testing.T) {
	onServers(t, func(t *testing.T, backend harness.Backend) {
		res := run(t, underSentinels(t, backend,
			"A acquire; A release; wait replica-in-sync; start sentinel; B acquire eventually; B read; B write; B release"))
		for _, p := range []checker.Property{checker.StrictExclusion, checker.LeaseExclusion, checker.ResourceSafety, checker.DeadlockFreedom} {
			if r := res.Report.Result(p); r.Verdict == checker.Fail {
				t.Errorf("%s is %v: %s", p, r.Verdict, r.Story)
			}
		}
		if got := wentTo(res, "A", "SET"); got != "master" {
			t.Errorf("A's SET went to %s, want the master", got)
		}
		if got := wentTo(res, "B", "SET"); got != "replica" {
			t.Errorf("B's SET went to %s, want the replica", got)
		}
		if got := seenOf(t, res, nemesis.SentinelF); !strings.Contains(got, "replica is the master after ") {
			t.Errorf("seen: %s", got)
		}
	})
}

// What had not reached the replica is lost however well the failover is decided: two clients
// hold the lock.
func TestLossySentinelFailover(t *testing.T) {
	onServers(t, func(t *testing.T, backend harness.Backend) {
		cfg := underSentinels(t, backend, `wait replica-in-sync; start cut-replication; A acquire; A read; start sentinel
			B acquire eventually; B read; A write; B write; A release; B release`)
		res := decides(t, cfg, checker.StrictExclusion, checker.LeaseExclusion, checker.ResourceSafety, checker.DeadlockFreedom)
		for _, p := range []checker.Property{checker.StrictExclusion, checker.LeaseExclusion, checker.ResourceSafety} {
			if r := res.Report.Result(p); r.Verdict != checker.Fail {
				t.Errorf("%s is %v, want fail: %s", p, r.Verdict, r.Story)
			}
		}
		if r := res.Report.Result(checker.DeadlockFreedom); r.Verdict != checker.Pass {
			t.Errorf("the lock cannot be had again: %s", r.Story)
		}
	})
}

// seenOf is what was seen of the one fault of that kind.
func seenOf(t *testing.T, res harness.Result, f histories.F) string {
	t.Helper()
	for _, e := range res.Events {
		if e.F == f && e.Type != histories.Invoke {
			return e.Value
		}
	}
	return "nothing"
}

// Random load goes on under Sentinels that fail over again and again.
func TestContendUnderSentinels(t *testing.T) {
	locktest.NeedRedis(t)
	cfg, err := harness.ForWorkload(harness.Load{Clients: 3, Limit: 8 * time.Second, Nemesis: []string{"sentinel"}},
		find(t, "setnx-px-lua"), resource.None, harness.Process(), 0)
	if err != nil {
		t.Fatal(err)
	}
	res := decides(t, cfg, checker.DeadlockFreedom)
	if got := seenOf(t, res, nemesis.SentinelF); !strings.Contains(got, "is the master after ") {
		t.Errorf("seen: %s", got)
	}
	if r := res.Report.Result(checker.DeadlockFreedom); r.Verdict != checker.Pass {
		t.Errorf("the lock cannot be had any more: %s", r.Story)
	}
}

func TestSentinelsAreRefused(t *testing.T) {
	for _, tc := range []struct {
		backend harness.Backend
		nemesis []string
		want    string
	}{
		{harness.Embedded(), []string{"sentinel"}, "real time"},
		{harness.External(harness.Servers{}), []string{"sentinel"}, "no replication"},
		{harness.Process(), []string{"sentinel", "failover"}, "take one of them"},
	} {
		_, err := harness.ForWorkload(harness.Load{Clients: 2, Nemesis: tc.nemesis}, find(t, "setnx-px-lua"), resource.None, tc.backend, 0)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, %v: %v", tc.backend.Name, tc.nemesis, err)
		}
		var needs *harness.NeedsError
		if len(tc.nemesis) == 1 && !errors.As(err, &needs) {
			t.Errorf("%s: %v is no NeedsError", tc.backend.Name, err)
		}
	}
}
