package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/contract"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/process"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
)

// clock is the time of the goroutine that asks: virtual in a bubble, else the machine's.
type clock struct{}

func (clock) Now() time.Time                         { return time.Now() }
func (clock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// seeded makes tokens from the client's name.
func seeded(client string) locks.Env {
	var seed [32]byte
	copy(seed[:], client)
	return locks.Env{
		Clock: clock{}, NewClock: func() locks.Clock { return clock{} },
		Rand: mathrand.NewChaCha8(seed), Client: client, Thread: 1,
	}
}

func topology(spec locks.Spec) cluster.Topology {
	return cluster.Topology{Masters: spec.Masters, Replicas: spec.Replicas}
}

// world is a contract.World on one of the project's backends.
type world = contract.Deployment

// inVirtualTime runs check on embedded servers in a bubble.
func inVirtualTime(spec locks.Spec) func(*testing.T, func(contract.World)) {
	return func(t *testing.T, check func(contract.World)) {
		t.Helper()
		err := onEmbedded(spec, func(w *world) { check(w) })
		if err != nil {
			t.Error(err)
		}
	}
}

func onEmbedded(spec locks.Spec, check func(*world)) error {
	left, err := contract.InVirtualTime(1, time.Minute, spec, func(client string) io.Reader { return seeded(client).Rand }, check)
	if left != "" {
		err = errors.Join(err, errors.New("goroutines are left: "+left))
	}
	return err
}

// servers are deployments of redis-server processes that many tests share.
type servers struct {
	mu   sync.Mutex
	made map[cluster.Topology]*process.Cluster
	keys int
}

func newServers(t testing.TB) *servers {
	locktest.NeedRedis(t)
	s := &servers{made: map[cluster.Topology]*process.Cluster{}}
	t.Cleanup(func() {
		for _, c := range s.made {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// world is a world for spec in a shared deployment, with a key that nobody else gets.
func (s *servers) world(t testing.TB, spec locks.Spec) *world {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	topo := topology(spec)
	if s.made[topo] == nil {
		c, err := process.New(context.Background(), topo, process.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.made[topo] = c
	}
	s.keys++
	w := contract.On(s.made[topo], spec, fmt.Sprintf("orders/%05d", s.keys))
	w.Clock = func() locks.Clock { return clock{} }
	w.Sleeper = clock{}
	w.Rand = func(client string) io.Reader { return seeded(client).Rand }
	return w
}

// need skips what needs commands that the servers do not know.
func (s *servers) need(t testing.TB, spec locks.Spec) {
	t.Helper()
	s.mu.Lock()
	c := s.made[topology(spec)]
	s.mu.Unlock()
	for _, command := range spec.Commands {
		unknown, err := c.Unknown(t.Context(), c.Primary(0), command.Name)
		if err != nil {
			t.Fatal(err)
		}
		if len(unknown) > 0 {
			t.Skipf("optional: a newer server, which knows %v", command)
		}
	}
	if spec.AOF {
		if err := c.Persist(t.Context(), c.Primary(0), cluster.FsyncAlways); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs check on real servers.
func (s *servers) run(spec locks.Spec) func(*testing.T, func(contract.World)) {
	return func(t *testing.T, check func(contract.World)) {
		t.Helper()
		w := s.world(t, spec)
		defer w.Close()
		s.need(t, spec)
		check(w)
	}
}
