package examples_test

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

// TestThreads has two threads use a lock at once, in each language whose workers have threads.
func TestThreads(t *testing.T) {
	effort.Real(t)
	for _, language := range []string{"go", "java", "node", "python", "ruby"} {
		t.Run(language, func(t *testing.T) { threads(t, newStand(t, careless(t, language), "none")) })
	}
}

// careless returns the command of a worker in a language that does all that is possible there: it has threads, releases what it
// released or was refused, and can be asked whether it holds the lock.
func careless(t testing.TB, language string) []string {
	t.Helper()
	switch file := "testdata/threads." + map[string]string{"node": "js", "ruby": "rb"}[language]; language {
	case "go":
		return buildGo(t, t.TempDir(), "testdata/holds.go")
	case "java":
		locktest.NeedLanguage(t, language)
		dir := t.TempDir()
		out, err := exec.Command("javac", "-d", dir, "java/LockbenchWorker.java", "testdata/Threads.java").CombinedOutput()
		if err != nil {
			t.Fatalf("javac: %v\n%s", err, out)
		}
		return []string{"java", "-cp", dir, "Threads"}
	case "php": // which has no threads
		locktest.NeedLanguage(t, language)
		return []string{language, "testdata/refused.php"}
	case "python":
		return []string{locktest.NeedPythonRedis(t), "testdata/threads.py"}
	default:
		locktest.NeedLanguage(t, language)
		return []string{language, file}
	}
}

// threads has one thread work while the other waits for a server that is silent, whose late reply is not taken for the next one.
func threads(t *testing.T, s *stand) {
	if said := s.a.Said().Promises; !said.Threads || !said.ReleasesTwice {
		t.Fatalf("it promises %+v", said)
	}
	other := s.a.Thread(1)
	lease, err := other.Acquire(s.within(time.Minute), "orders/42", time.Minute)
	must(t, err)
	answers := s.relay.hold()
	waits := make(chan error, 1)
	go func() {
		_, err := s.a.Acquire(s.within(3*time.Second), "orders/43", time.Minute)
		waits <- err
	}()
	if seen, err := lease.(*worker.Lease).Read(s.within(2 * time.Second)); err != nil || seen.Value != 0 {
		t.Errorf("read by a thread while the other waits: %+v, %v", seen, err)
	}
	select {
	case err := <-waits:
		t.Errorf("the other had its answer before the server gave one: %v", err)
	default:
	}
	if err := <-waits; err == nil || locks.Classify(err) == locks.Refused {
		t.Errorf("acquire of a server that is silent: %v", err)
	}
	answers()
	must(t, lease.Release(s.within(time.Minute)))
	if err := lease.Release(s.within(time.Minute)); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("second release: %v", err)
	}
	if _, err := s.a.Acquire(s.within(time.Minute), "orders/43", time.Minute); !errors.Is(err, locks.ErrTaken) {
		t.Errorf("acquire of what the late reply granted: %v", err)
	}
	must(t, s.acquire(s.a).Release(s.within(time.Minute)))
}
