package harness_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/scenarios"
)

// The login of the user's own servers.
const (
	ownUser     = "hunter"
	ownPassword = "c0rrect-h0rse"
)

// ownServers starts servers that want a login, each with a key of somebody else, and
// returns the user's own looks at them.
func ownServers(t *testing.T, n int) (addrs []string, looks []*redis.Client) {
	t.Helper()
	for range n {
		addr := locktest.StartRedis(t, "--requirepass", ownPassword, "--user", ownUser, "on", ">"+ownPassword, "~*", "&*", "+@all")
		look := redis.NewClient(&redis.Options{Addr: addr, Password: ownPassword})
		t.Cleanup(func() { _ = look.Close() })
		if err := look.Set(t.Context(), "orders/42", "theirs", 0).Err(); err != nil {
			t.Fatal(err)
		}
		addrs, looks = append(addrs, addr), append(looks, look)
	}
	return addrs, looks
}

func on(t *testing.T, cfg harness.Config, masters []string, register string) harness.Config {
	t.Helper()
	servers, err := harness.ParseServers(strings.Join(masters, ","), register, ownUser, ownPassword)
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err = cfg.On(harness.External(servers)); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func onOwnServers(t *testing.T, cfg harness.Config) (harness.Config, []*redis.Client) {
	t.Helper()
	addrs, looks := ownServers(t, cfg.Lock.Masters)
	return on(t, cfg, addrs, ""), looks
}

// untouched checks that a server holds what it held before, and nothing else.
func untouched(t *testing.T, looks []*redis.Client) {
	t.Helper()
	for i, look := range looks {
		keys, err := look.Keys(t.Context(), "*").Result()
		if err != nil || !slices.Equal(keys, []string{"orders/42"}) || look.Get(t.Context(), "orders/42").Val() != "theirs" {
			t.Errorf("server %d holds %q, %v; want what it held before the run", i+1, keys, err)
		}
	}
}

// TestExternalLeavesNothing runs every lock that can be had on servers of the user's own,
// with the register on a server of its own and without one.
func TestExternalLeavesNothing(t *testing.T) {
	addrs, looks := ownServers(t, 6)
	for i, spec := range libraries.Catalogue() {
		if spec.Replicas > 0 || spec.Name == "lua-uuid-one-try" { // the latter never writes
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			guard := resource.Epoch
			if spec.Fencing {
				guard = resource.Fence
			}
			cfg, err := harness.ForWorkload(harness.Load{Clients: 3, Rounds: 2}, spec, guard, harness.External(harness.Servers{}), 0)
			if err != nil {
				t.Fatal(err)
			}
			register := ""
			if i%2 == 0 {
				register = addrs[5]
			}
			res := decides(t, on(t, cfg, addrs[:spec.Masters], register)) // what the judges say is no matter here
			if shared := strings.Contains(fmt.Sprint(res.Meta.Notes), "the register is on the lock's first server"); shared != (register == "") {
				t.Errorf("register on %q, notes %q", register, res.Meta.Notes)
			}
			untouched(t, looks)
		})
	}
}

// TestExternalTellsNoLogin looks for user and password in everything that is kept.
func TestExternalTellsNoLogin(t *testing.T) {
	t.Parallel()
	cfg, looks := onOwnServers(t, scenario(t, scenarios.All()[0], scenarios.All()[0].Broken(), harness.External(harness.Servers{})))
	cfg.Out = t.TempDir()
	res := run(t, cfg)
	untouched(t, looks)
	files := 0
	err := filepath.WalkDir(res.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if tells(string(data)) {
			t.Errorf("%s tells the login", path)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files are kept, %v", files, err)
	}
	if len(res.Exchanges) == 0 || tells(fmt.Sprintf("%+v %#v %+v", res, res.Config, res.Exchanges)) {
		t.Errorf("of %d exchanges, the login is told in the result", len(res.Exchanges))
	}
}

func tells(s string) bool { return strings.Contains(s, ownUser) || strings.Contains(s, ownPassword) }

func TestExternalPause(t *testing.T) {
	cfg, err := harness.ForWorkload(harness.Load{Clients: 5, Limit: 3 * time.Second, Nemesis: []string{"pause", "partition", "late", "lost-reply"}},
		find(t, "fenced"), resource.Fence, harness.External(harness.Servers{}), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	cfg, looks := onOwnServers(t, cfg)
	res := decides(t, cfg, checker.ResourceSafety)
	untouched(t, looks)
	if got := res.Report.Result(checker.ResourceSafety); got.Verdict != checker.Pass {
		t.Errorf("resource safety is %v: %s", got.Verdict, got.Story)
	}
	if !slices.ContainsFunc(res.Events, func(e histories.Event) bool { return e.F == nemesis.PauseF && e.Type == histories.OK }) {
		t.Error("no client was paused")
	}
}

// TestExternalInterrupted cancels a run while its keys are on the servers.
func TestExternalInterrupted(t *testing.T) {
	addrs, looks := ownServers(t, 5)
	cfg := on(t, contend(t, "redlock", harness.External(harness.Servers{}), 4, 100000), addrs, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Seen = func(time.Duration) {
		if looks[0].DBSize(t.Context()).Val() >= 2 {
			cancel()
		}
	}
	before := goleak.IgnoreCurrent() // the servers and the looks at them
	if _, err := harness.Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	goleak.VerifyNone(t, before)
	untouched(t, looks)
}

func TestExternalRefuses(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, c := range s.Cases {
			_, err := s.Config(find(t, c.Lock), c.Guard, harness.External(harness.Servers{}), 0)
			var gap *scenarios.GapError
			if errors.As(err, &gap) {
				continue // it says why
			}
			if s.Replicas > 0 != (err != nil) {
				t.Errorf("%s with %v: %v", s.Name, c, err)
			}
			if err != nil && !strings.Contains(err.Error(), "use --backend embedded, process or docker") {
				t.Errorf("%s with %v: %v, want the backends that can", s.Name, c, err)
			}
		}
	}
	if _, err := harness.ForWorkload(harness.Load{Clients: 2}, find(t, "setnx-px-wait"), resource.None, harness.External(harness.Servers{}), 0); err == nil {
		t.Error("a lock that waits for a replica was accepted")
	}
	for name, refused := range map[string]bool{
		"pause": false, "partition": false, "late": false, "lost-reply": false,
		"restart": true, "stall": true, "clock": true, "replication": true, "failover": true,
	} {
		var needs *harness.NeedsError
		_, err := harness.ForWorkload(harness.Load{Clients: 2, Nemesis: []string{name}}, find(t, "redlock"), resource.None, harness.External(harness.Servers{}), 0)
		if errors.As(err, &needs) != refused {
			t.Errorf("nemesis %s: %v", name, err)
		}
	}
	cfg := contend(t, "redlock", harness.External(harness.Servers{}), 2, 1)
	if _, err := harness.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "5 independent masters") {
		t.Errorf("without servers: %v", err)
	}
}
