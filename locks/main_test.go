package locks_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/locks"
)

// beside is how many tests run side by side. Those on real servers mostly wait for
// leases to end, so that more fit than there are processors.
const beside = 12

func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", fmt.Sprint(beside)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// constructor makes the lock of that name. It panics if there is none: the name stands in a test.
func constructor(name string) func(locks.Env) locks.Locker {
	spec, err := locks.All().Find(name)
	if err != nil {
		panic(err)
	}
	return spec.New
}
