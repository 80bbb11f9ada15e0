//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/testkit/dockertest"
)

// dockerRun is a lockbench on backend docker.
func dockerRun(t *testing.T, args ...string) *child {
	t.Helper()
	return newChild(t, append(args, "--backend", "docker")...)
}

// startOnDocker starts a run that takes much longer than the test, and waits until it
// has containers, and events on disk.
func startOnDocker(t *testing.T) *child {
	t.Helper()
	c := dockerRun(t, "run", "--workload", "contend", "--rounds", "100000")
	c.start(t)
	c.until(t, "events on disk", func() bool {
		info, err := os.Stat(filepath.Join(c.kept(), histories.EventsFile))
		return err == nil && info.Size() > 1000
	})
	if got := c.things(t); len(got) != 3 { // the lock's server, the register, the network
		t.Fatalf("containers and networks of the run: %v, want 3", got)
	}
	return c
}

// things asks docker for the containers and networks of the child, and of nobody else.
func (c *child) things(t *testing.T) (names []string) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]string{{"ps", "-a", "--format", `{{.Names}} {{.Label "lockbench.owner"}}`}, {"network", "ls", "--format", `{{.Name}} {{.Label "lockbench.owner"}}`}} {
		out, err := exec.Command("docker", append(list, "--filter", "label=lockbench.run")...).Output()
		if err != nil {
			t.Fatalf("docker %v: %v", list, err)
		}
		for line := range strings.Lines(string(out)) {
			name, label, _ := strings.Cut(line, " ")
			var owner struct {
				PID  int
				Host string
			}
			if err := json.Unmarshal([]byte(label), &owner); err != nil {
				t.Fatalf("label lockbench.owner of %s is %q: %v", name, label, err)
			}
			if owner.PID == c.Process.Pid && owner.Host == host {
				names = append(names, name)
			}
		}
	}
	return names
}

// nothingLeft looks for containers and networks of a run that has ended.
func (c *child) nothingLeft(t *testing.T) {
	t.Helper()
	if left := c.things(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func needDockerTool(t *testing.T) {
	t.Helper()
	dockertest.Need(t)
	if _, err := exec.LookPath("docker"); err != nil {
		t.Fatalf("want the command docker on PATH, to look at an engine that is there: %v", err)
	}
}

// TestFailoverOnDocker runs the failover of the README ten times, or twice with -short.
func TestFailoverOnDocker(t *testing.T) {
	needDockerTool(t)
	t.Parallel()
	dockertest.Turn(t)
	runs := "10"
	if testing.Short() {
		runs = "2"
	}
	c := dockerRun(t, "run", "--scenario", "failover-async-repl", "--runs", runs)
	c.start(t)
	c.until(t, "a container", func() bool { return len(c.things(t)) > 0 })
	<-c.ended
	if code := c.ProcessState.ExitCode(); code != 0 || !strings.HasSuffix(c.stdout.String(), "\n"+runs+" runs: "+runs+" as expected, 0 not, 0 unknown; reproduced "+runs+" of "+runs+"\n") {
		t.Errorf("%v\n%s%s", c.ProcessState, c.stdout.String(), c.stderr.String())
	}
	c.nothingLeft(t)
	for _, node := range []string{"master", "replica", "register"} {
		log, err := os.ReadFile(filepath.Join(c.dir, "store", "failover-async-repl", histories.Latest, "logs", node+".log"))
		if err != nil || !strings.Contains(string(log), "Ready to accept connections") {
			t.Errorf("log of %s: %v\n%s", node, err, log)
		}
	}
}

func TestInterruptOnDocker(t *testing.T) {
	needDockerTool(t)
	t.Parallel()
	c := startOnDocker(t)
	c.end(t, syscall.SIGINT)
	c.checkInterrupted(t, interruptedAndKept)
	c.nothingLeft(t)
}

// TestCleanOnDocker kills a run by SIGKILL. Clean removes what it left, once it is dead,
// and nothing of a run that lives. No other test may call clean: it removes what all
// dead runs left.
func TestCleanOnDocker(t *testing.T) {
	needDockerTool(t)
	t.Parallel()
	alive, killed := startOnDocker(t), startOnDocker(t)
	before := killed.things(t)
	clean := func() string {
		t.Helper()
		out, err := exec.Command("lockbench", "clean").CombinedOutput()
		if err != nil {
			t.Fatalf("clean: %v\n%s", err, out)
		}
		return string(out)
	}
	clean()
	if got := killed.things(t); len(got) != len(before) {
		t.Fatalf("clean left %v of %v of a live run", got, before)
	}
	killed.end(t, syscall.SIGKILL)
	if got := killed.things(t); len(got) != len(before) {
		t.Fatalf("the killed run left %v, want %v", got, before)
	}
	said := clean()
	killed.nothingLeft(t)
	for _, name := range before {
		if !regexp.MustCompile(`(?m)^removed (container|network) ` + regexp.QuoteMeta(name) + ` of run [0-9a-f]{12}$`).MatchString(said) {
			t.Errorf("clean does not say that it removed %s:\n%s", name, said)
		}
	}
	if got := alive.things(t); len(got) != len(before) {
		t.Errorf("clean left %v of a live run", got)
	}
	alive.end(t, syscall.SIGINT)
	alive.checkInterrupted(t, interruptedAndKept)
	alive.nothingLeft(t)
}
