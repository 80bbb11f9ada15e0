package examples_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/examples"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// project writes a language's project into a directory, builds it, and returns the command of
// its worker.
func project(t testing.TB, l examples.Language) []string {
	t.Helper()
	locktest.NeedLanguage(t, l.Name)
	dir := t.TempDir()
	files, err := l.Project()
	must(t, err)
	for _, f := range files {
		must(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644))
	}
	switch l.Name {
	case "go": // by our own module, as the project's may have to be fetched
		return buildGo(t, dir)
	case "java":
		cmd := exec.Command("sh", "-c", l.Build)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", l.Build, err, out)
		}
		return []string{"java", "-cp", dir, "MyLock"}
	case "python":
		return []string{locktest.NeedPythonRedis(t), filepath.Join(dir, l.Lock)}
	}
	program, file, _ := strings.Cut(l.Run, " ")
	return []string{program, filepath.Join(dir, file)}
}

// buildGo builds the worker in Go into a directory, with more files of its package, and returns its command.
func buildGo(t testing.TB, dir string, more ...string) []string {
	t.Helper()
	replace := map[string]string{}
	for _, file := range more {
		from, err := filepath.Abs(file)
		must(t, err)
		as, err := filepath.Abs(filepath.Join("golang", filepath.Base(file)))
		must(t, err)
		replace[as] = from
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	layer := filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(layer, overlay, 0o644))
	out, err := exec.Command("go", "build", "-overlay", layer, "-o", dir, "./golang").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return []string{filepath.Join(dir, "golang")}
}

func TestProjects(t *testing.T) {
	for _, l := range examples.Languages() {
		files, err := l.Project()
		must(t, err)
		all := map[string]string{}
		for _, f := range files {
			all[f.Name] = string(f.Data)
		}
		for name, want := range map[string]string{
			l.Loop: "protocol", l.Lock: "lock:%s", "README.md": l.Commands(), "lockbench.yml": l.Commands(),
		} {
			if !strings.Contains(all[name], want) {
				t.Errorf("%s: %s does not say %q", l.Name, name, want)
			}
		}
		if n := strings.Count(all["README.md"], "\n"); n > 15 {
			t.Errorf("%s: the README has %d lines", l.Name, n)
		}
	}
	if _, err := examples.Find("cobol"); err == nil || !strings.Contains(err.Error(), "go, java, node, php, python, ruby") {
		t.Error(err)
	}
}

// TestGoModule wants of the project in Go the version of go-redis that it is tested with.
func TestGoModule(t *testing.T) {
	l, err := examples.Find("go")
	must(t, err)
	files, err := l.Project()
	must(t, err)
	ours, err := os.ReadFile("../go.mod")
	must(t, err)
	version := regexp.MustCompile(`github.com/redis/go-redis/v9 v\S+`)
	if got, want := version.FindString(string(files[0].Data)), version.FindString(string(ours)); got != want {
		t.Errorf("it wants %q, and lockbench %q", got, want)
	}
}

// relay passes connections on to a server, and holds up what that answers while it is told to.
type relay struct {
	net.Listener
	open atomic.Pointer[chan struct{}] // closed while answers pass
}

// hold holds up what the server answers from now on, until release is called.
func (r *relay) hold() (release func()) {
	open := make(chan struct{})
	r.open.Store(&open)
	return sync.OnceFunc(func() { close(open) })
}

// pass returns when answers pass, or with ctx.
func (r *relay) pass(ctx context.Context) {
	if open := r.open.Load(); open != nil {
		select {
		case <-*open:
		case <-ctx.Done():
		}
	}
}

func newRelay(t *testing.T, server string) *relay {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	r := &relay{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			go r.carry(t.Context(), here, server)
		}
	}()
	return r
}

func (r *relay) carry(ctx context.Context, here net.Conn, server string) {
	defer func() { _ = here.Close() }()
	var d net.Dialer
	there, err := d.DialContext(ctx, "tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = there.Close() }()
	go func() {
		_, _ = io.Copy(there, here)
		_ = there.Close()
	}()
	buf := make([]byte, 4096)
	for {
		n, err := there.Read(buf)
		if err != nil {
			return
		}
		r.pass(ctx)
		if _, err := here.Write(buf[:n]); err != nil {
			return
		}
	}
}

// stand is two workers of a language, a server for their lock and one for the register.
type stand struct {
	t      *testing.T
	server *miniredis.Miniredis
	relay  *relay
	a, b   *worker.Client
}

func newStand(t *testing.T, command []string, guard string) *stand {
	s := &stand{t: t, server: miniredis.RunT(t)}
	s.relay = newRelay(t, s.server.Addr())
	fleet, err := worker.NewFleet(t.Context(), command, func(string) (io.WriteCloser, error) { return writer{t}, nil })
	must(t, err)
	t.Cleanup(func() { must(t, fleet.Close()) })
	fleet.Grant(time.Minute) // a busy machine takes long to start a language
	read, write, enter := resource.Scripts()
	register := worker.Register{Address: miniredis.RunT(t).Addr(), Suffix: resource.KeySuffix, Read: read, Write: write, Enter: enter}
	for name, c := range map[string]**worker.Client{"A": &s.a, "B": &s.b} {
		*c, err = fleet.Start(t.Context(), name, func(int) worker.Setting {
			return worker.Setting{
				Guard: guard, Nodes: []string{s.relay.Addr().String()}, Register: register, Client: name, Identity: name, Seed: "17",
			}
		})
		must(t, err)
	}
	return s
}

// writer shows what workers write to their standard error.
type writer struct{ t *testing.T }

func (w writer) Write(b []byte) (int, error) { w.t.Logf("%s", b); return len(b), nil }
func (w writer) Close() error                { return nil }

func (s *stand) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	s.t.Cleanup(cancel)
	return ctx
}

func (s *stand) acquire(c *worker.Client) *worker.Lease {
	s.t.Helper()
	lease, err := c.Acquire(s.within(time.Minute), "orders/42", 30*time.Second)
	must(s.t, err)
	return lease.(*worker.Lease)
}

// TestLoops has a conversation with the worker of each language.
func TestLoops(t *testing.T) {
	effort.Real(t)
	for _, l := range examples.Languages() {
		t.Run(l.Name, func(t *testing.T) {
			command := project(t, l)
			described(t, command)
			t.Run("sections", func(t *testing.T) { sections(newStand(t, command, "epoch")) })
			t.Run("elapsed", func(t *testing.T) { elapsed(newStand(t, command, "elapsed")) })
			t.Run("silence", func(t *testing.T) { silence(newStand(t, command, "none")) })
			t.Run("haste", func(t *testing.T) { haste(newStand(t, command, "none")) })
		})
	}
}

func described(t *testing.T, command []string) {
	d, err := worker.Describe(t.Context(), command, "", nil)
	must(t, err)
	s := d.Spec
	if d.Protocol != 2 || !s.Extends || s.Keys == nil || s.Keys("k")[0] != "lock:k" || s.Database != 0 || s.Masters != 1 || s.Waits || s.Renews {
		t.Errorf("%+v", d)
	}
}

// sections is two clients, one after the other, with all that a lease can do.
func sections(s *stand) {
	t := s.t
	first := s.acquire(s.a)
	if !s.server.Exists("lock:orders/42") || first.Deadline().IsZero() {
		t.Errorf("keys %v, deadline %v", s.server.Keys(), first.Deadline())
	}
	if _, err := s.b.Acquire(s.within(time.Minute), "orders/42", time.Second); !errors.Is(err, locks.ErrTaken) {
		t.Errorf("of a lock that is taken: %v", err)
	}
	ctx := s.within(time.Minute)
	if seen, err := first.Read(ctx); err != nil || seen.Value != 0 {
		t.Errorf("read: %+v, %v", seen, err)
	}
	if _, err := first.Write(ctx, 7); err != nil {
		t.Errorf("write: %v", err)
	}
	if err := first.Extend(ctx, 90*time.Second); err != nil || s.server.TTL("lock:orders/42") != 90*time.Second {
		t.Errorf("extend: %v, and the key lives for %v", err, s.server.TTL("lock:orders/42"))
	}
	for _, ttl := range []time.Duration{0, -time.Second} {
		err := first.Extend(ctx, ttl)
		if _, ok := errors.AsType[*locks.InputError](err); !ok || s.server.TTL("lock:orders/42") != 90*time.Second {
			t.Errorf("extend by %v: %v, and the key lives for %v", ttl, err, s.server.TTL("lock:orders/42"))
		}
	}
	s.server.FastForward(2 * time.Minute)
	second := s.acquire(s.b)
	if seen, err := second.Read(ctx); err != nil || seen.Value != 7 || second.Token() == 0 {
		t.Errorf("the second section reads %+v under token %d, %v", seen, second.Token(), err)
	}
	if _, err := first.Write(ctx, 8); !errors.Is(err, resource.ErrStale) {
		t.Errorf("a write of the first, after the second's: %v", err)
	}
	if err := first.Extend(ctx, time.Minute); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("extend of a lease that is gone: %v", err)
	}
	if err := first.Release(ctx); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("release of a lease that is gone: %v", err)
	}
	must(t, second.Release(ctx))
	if s.server.Exists("lock:orders/42") {
		t.Error("the key is still there after its release")
	}
}

// elapsed is a write after the end of the lease.
func elapsed(s *stand) {
	ctx := s.within(time.Minute)
	lease, err := s.a.Acquire(ctx, "orders/42", time.Millisecond)
	must(s.t, err)
	for err == nil { // until the lease has ended by the worker's clock
		_, err = lease.(*worker.Lease).Write(ctx, 1)
	}
	if !errors.Is(err, resource.ErrElapsed) {
		s.t.Errorf("a write after the lease: %v", err)
	}
}

// silence is a server that does not answer in time: nobody knows what happened, and a late
// reply is not taken for the next one.
func silence(s *stand) {
	held := s.acquire(s.a)
	release := s.relay.hold()
	s.t.Cleanup(release)
	_, err := s.b.Acquire(s.within(300*time.Millisecond), "orders/42", time.Minute)
	if err == nil || locks.Classify(err) == locks.Refused {
		s.t.Errorf("acquire of a server that is silent: %v", err)
	}
	if err := held.Release(s.within(300 * time.Millisecond)); err == nil || locks.Classify(err) == locks.Refused {
		s.t.Errorf("release at a server that is silent: %v", err)
	}
	release()
	s.server.FlushAll()
	again := s.acquire(s.b)
	if _, err := s.a.Acquire(s.within(time.Minute), "orders/42", time.Second); !errors.Is(err, locks.ErrTaken) {
		s.t.Errorf("of a lock that is taken again: %v", err)
	}
	must(s.t, again.Release(s.within(time.Minute)))
}

// haste is requests whose time is over wherever the worker happens to be.
func haste(s *stand) {
	for i := range 200 {
		ctx := s.within(time.Duration(1+i%40) * 50 * time.Microsecond)
		lease, err := s.a.Acquire(ctx, fmt.Sprint("k", i), time.Second)
		if err == nil {
			_ = lease.Release(ctx)
		}
		var broken *worker.BrokenError
		if errors.As(err, &broken) {
			s.t.Fatalf("request %d: %v", i, err)
		}
	}
	must(s.t, s.acquire(s.a).Release(s.within(time.Minute)))
}
