package docker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cluster"
)

// harnessEnv makes the test binary a harness: it starts a cluster, prints its id, and
// waits to be killed.
const harnessEnv = "LOCKBENCH_TEST_HARNESS"

func harness() int {
	c, err := New(context.Background(), cluster.Topology{Masters: 1, Replicas: 1}, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.ID())
	_, _ = io.Copy(io.Discard, os.Stdin) // ends if the test itself dies
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// Clean removes what a harness that was killed by SIGKILL left, and nothing of a
// harness that lives.
func TestCleanAfterKill(t *testing.T) {
	alive := up(t, 1, 0)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), harnessEnv+"=1", reaperOff+"=true")
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	must(t, err)
	defer func() { _ = stdin.Close() }() // after the kill
	stdout, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	run := strings.TrimSpace(line)
	if err != nil {
		t.Fatalf("the child ended early: %v, %v", err, child.Wait())
	}

	var told strings.Builder
	must(t, Clean(soon(t), &told))
	if got := len(things(t, runLabel+"="+run)); got != 4 {
		t.Fatalf("a live run has %d containers and networks after Clean, want 4; it said:\n%s", got, told.String())
	}

	must(t, child.Process.Kill())
	_ = child.Wait() // killed
	if got := len(things(t, runLabel+"="+run)); got != 4 {
		t.Fatalf("the killed run left %d containers and networks, want 4", got)
	}
	told.Reset()
	must(t, Clean(soon(t), &told))
	nothingLeft(t, run)
	for _, want := range []string{
		"removed container lockbench-" + run + "-master of run " + run,
		"removed network ",
		"left run " + alive.ID() + " alone: process " + fmt.Sprint(os.Getpid()),
	} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("Clean does not say %q:\n%s", want, told.String())
		}
	}
	mustDo(t, dial(t, alive, "A", "master"), "PING")
	if got := len(things(t, runLabel+"="+alive.ID())); got != 3 {
		t.Errorf("the live run has %d containers and networks, want 3", got)
	}
}
