package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// harnessEnv makes the test binary a harness: it starts a cluster in the directory
// named, prints the ids of the servers, and waits to be killed.
const harnessEnv = "LOCKBENCH_TEST_HARNESS"

func harness(dir string) int {
	c, err := New(context.Background(), cluster.Topology{Masters: 1, Replicas: 1}, Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(strings.Trim(fmt.Sprint(pids(c)), "[]"))
	_, _ = io.Copy(io.Discard, os.Stdin) // ends if the test itself dies
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}
