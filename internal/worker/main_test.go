package worker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/libraries"
)

// behaviourEnv makes the test binary a worker of that behaviour.
const behaviourEnv = "LOCKBENCH_TEST_WORKER"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviourEnv); how != "" {
		os.Exit(behave(how))
	}
	goleak.VerifyTestMain(m)
}

// behave is a worker: a good one, or one that answers hello and configure and then does
// something that it should not.
func behave(how string) int {
	if how == "good" {
		if err := Serve(context.Background(), os.Stdin, os.Stdout, libraries.Catalogue(), Options{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	if hello, ok := strings.CutPrefix(how, "hello "); ok {
		fmt.Println(strings.ReplaceAll(hello, "\n", " "))
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	if how == "old" {
		fmt.Println(`{"id":1,"type":"ok","protocol":0}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	if how == "foreign" {
		fmt.Println(`{"id":1,"type":"ok","protocol":1,"pid":1}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	fmt.Println(`{"id":1,"type":"ok","protocol":1,"what nobody knows":[1]}`)
	in.Scan()
	fmt.Println(`{"id":2,"type":"ok"}`)
	in.Scan()
	switch how {
	case "rubbish":
		fmt.Println(`hello, world`)
	case "typeless":
		fmt.Println(`{"id":3,"type":"fine"}`)
	case "twice":
		fmt.Println(`{"id":3,"type":"fail"}` + "\n" + `{"id":3,"type":"fail"}`)
	case "dies":
		fmt.Fprintln(os.Stderr, "Traceback: no luck")
		return 3
	case "leaves":
		return 0
	case "unable":
		fmt.Println(`{"id":3,"type":"error","error":"what is a lock?"}`)
	case "lost early":
		fmt.Println(`{"event":"lost","lease":3}` + "\n" + `{"id":3,"type":"ok","remaining":-50}`)
	case "long":
		fmt.Println(strings.Repeat("x", maxLine+1))
	case "endless":
		fmt.Println(`{"id":3,"type":"ok","remaining":1e18}`)
	case "mute":
		_ = os.Stdout.Close()
	case "lost":
		fmt.Println(`{"id":3,"type":"ok","token":7,"remaining":50}` + "\n" + `{"event":"lost","lease":3,"token":7,"remaining":-1}`)
	case "deaf":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		time.Sleep(time.Hour)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
