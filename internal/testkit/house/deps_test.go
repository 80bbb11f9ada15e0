package house

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mostDeps is how many packages outside of the standard library and of lockbench the harness, and locktest, may link. Who tests a
// lock in a module of their own takes all of them on. It is to go down.
const mostDeps = 50

// TestHarnessDeps checks what a program links that runs locks: no engine of containers, no browser, no telemetry,
// no library that is under test, and no more of others than it does.
func TestHarnessDeps(t *testing.T) {
	light(t, "internal/harness", "github.com/lockbench/lockbench/scenarios")
}

// TestLocktestDeps checks the same of what a test links that tests a lock.
func TestLocktestDeps(t *testing.T) { light(t, "locktest", "github.com/lockbench/lockbench/cmd/") }

// light checks what a room links. Beside what nobody is to link there is what this room is not to.
func light(t *testing.T, room, without string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+room)
	list.Dir, list.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // elsewhere other packages measure processes
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for _, name := range strings.Fields(string(out)) {
		if !strings.HasPrefix(name, "github.com/lockbench/lockbench/") {
			others++
		}
		for _, banned := range []string{
			"github.com/moby/", "github.com/docker/", "github.com/testcontainers/", "github.com/chromedp/", "go.opentelemetry.io/",
			"github.com/go-redsync/", "github.com/bsm/", "github.com/redis/rueidis", "github.com/lockbench/lockbench/internal/libraries",
			"github.com/lockbench/lockbench/docker", "github.com/lockbench/lockbench/internal/redis/docker", without,
		} {
			if strings.HasPrefix(name, banned) {
				t.Errorf("%s links %s; want it only below a package that %s does not import, as docker or internal/libraries", room, name, room)
			}
		}
	}
	if others == 0 || others > mostDeps {
		t.Errorf("%s links %d packages of others, want at most %d:\n%s", room, others, mostDeps, out)
	}
}
