package harness_test

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/scenarios"
)

// behindItsBack is cfg, in which kill is called as the n-th event is recorded, or with the last.
func behindItsBack(cfg harness.Config, n int, kill func(cluster.Cluster)) harness.Config {
	var servers cluster.Cluster
	cfg.Seams.Stage = func(s *player.Stage) { servers = s.Cluster }
	seen := 0
	cfg.Seen = func(time.Duration) {
		if seen++; seen == n {
			kill(servers)
		}
	}
	return cfg
}

// killed ends a run's server by SIGKILL, as the system does that runs out of memory.
func killed(t *testing.T, node string) func(cluster.Cluster) {
	return func(c cluster.Cluster) {
		pid, _, err := c.(cluster.Processes).Stopped(t.Context(), node)
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Errorf("kill %s: %v", node, err)
		}
	}
}

// noticed checks that a run ended because of a server's death, and nothing else.
func noticed(t *testing.T, res harness.Result, err error, node string) {
	t.Helper()
	death, ok := errors.AsType[*cluster.DeathError](err)
	if !ok || death.Node != node {
		t.Errorf("server %s was killed, and the run ended with %v and verdict %v", node, err, res.Report.Verdict)
	}
}

// TestDeathIsNoticed kills servers at random instants of runs, also of ones whose faults kill
// servers.
func TestDeathIsNoticed(t *testing.T) {
	locktest.NeedRedis(t)
	r := rand.New(rand.NewPCG(1, 9))
	runs := 12
	if testing.Short() {
		runs = 4
	}
	for range runs {
		node := []string{"master", "register"}[r.IntN(2)]
		res, err := harness.Run(t.Context(), behindItsBack(contend(t, "setnx-px-lua", harness.Process(), 3, 4), 1+r.IntN(60), killed(t, node)))
		noticed(t, res, err, node)
		if err == nil || !strings.Contains(err.Error(), "signal: killed") || !strings.Contains(err.Error(), "Ready to accept connections") {
			t.Errorf("%v: want how it ended and what it printed last", err)
		}
	}
	s, err := scenarios.Find("redlock-minority-down")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(find(t, "redlock"), resource.None, harness.Process(), 0)
	if err != nil {
		t.Fatal(err)
	}
	run(t, cfg) // what a fault kills is no accident
	res, err := harness.Run(t.Context(), behindItsBack(cfg, 4, killed(t, "n1")))
	noticed(t, res, err, "n1")
}

// TestDeathOfContainerIsNoticed does so with a container.
func TestDeathOfContainerIsNoticed(t *testing.T) {
	dockertest.Turn(t)
	cfg := contend(t, "setnx-px-lua", docker.Backend(), 2, 4)
	res, err := harness.Run(t.Context(), behindItsBack(cfg, 10, func(c cluster.Cluster) {
		id := c.(interface{ ID() string }).ID()
		if out, err := exec.Command("docker", "kill", "lockbench-"+id+"-master").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}))
	noticed(t, res, err, "master")
}

// TestDeathOfOwnServerIsNoticed does so with a server of the user's, which dies and comes back
// at the same address before anybody can see that it is gone.
func TestDeathOfOwnServerIsNoticed(t *testing.T) {
	path := locktest.NeedRedis(t)
	for _, comesBack := range []bool{false, true} {
		cfg := contend(t, "setnx-px-lua", harness.External(harness.Servers{}), 2, 4)
		addrs, looks := ownServers(t, 1)
		end := func(cluster.Cluster) {
			if _ = looks[0].ShutdownNoSave(t.Context()).Err(); !comesBack { // there is no reply
				return
			}
			_, port, _ := strings.Cut(addrs[0], ":")
			again := exec.Command(path, "--logfile", "", "--port", port, "--bind", "127.0.0.1", "--save", "", "--requirepass", ownPassword,
				"--user", ownUser, "on", ">"+ownPassword, "~*", "&*", "+@all")
			out, err := again.StdoutPipe()
			if err == nil {
				err = again.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() {
				_ = again.Process.Kill()
				_ = again.Wait() // "signal: killed"
			})
			listening(t, out)
		}
		res, err := harness.Run(t.Context(), behindItsBack(on(t, cfg, addrs, ""), 10, end))
		noticed(t, res, err, "master")
	}
}

// listening returns when a server writes that it accepts connections.
func listening(t *testing.T, log io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			return
		}
	}
	t.Errorf("the server does not come back: %v", lines.Err())
}
