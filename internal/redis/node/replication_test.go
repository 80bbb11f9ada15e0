package node

import (
	"context"
	"errors"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/wire"
)

// pairOf is a master and its replica on servers of the test's own, in step, and where
// they are. One without an address passes for dead.
func pairOf(t *testing.T) (*Replication, map[string]string) {
	t.Helper()
	quick := []string{"--repl-diskless-sync", "no", "--hz", "100"}
	addrs := map[string]string{"master": locktest.StartRedis(t, quick...), "replica": locktest.StartRedis(t, quick...)}
	nodes := cluster.Topology{Masters: 1, Replicas: 1}.Nodes()
	servers := maps.Clone(addrs)
	links := NewLinks(t.Context(), func(ctx context.Context, node string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", servers[node])
	})
	r := NewReplication(nodes, links, func(node string) (string, bool, error) {
		if addrs[node] == "" {
			return "", false, NotRunning(node)
		}
		return addrs[node], false, nil
	})
	doors := NewDoors(links, "127.0.0.1", nil, t.Logf)
	if r.Source("replica").IsValid() {
		t.Error("a replica has a source before Start")
	}
	t.Cleanup(func() {
		links.End()
		must(t, doors.Close())
		links.Close()
	})
	must(t, r.Start(soon(t), doors))
	return r, addrs
}

// soon is a context for waits that would hang where the replication is broken.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func do(t *testing.T, addr string, args ...string) wire.Reply {
	t.Helper()
	reply, err := Command(soon(t), addr, args...)
	must(t, err)
	return reply
}

func TestReplication(t *testing.T) {
	r, addrs := pairOf(t)
	do(t, addrs["master"], "SET", "early", "v")
	must(t, r.Sync(soon(t), "master"))
	if got := do(t, addrs["replica"], "GET", "early").Text(); got != "v" {
		t.Errorf("the replica has %q", got)
	}
	have, sent, err := r.Offsets(soon(t), "replica")
	if err != nil || have != sent || have == 0 {
		t.Errorf("in step: %d of %d, %v", have, sent, err)
	}
	if role := do(t, addrs["replica"], "ROLE"); role.Elems[2].Text() != portOf(t, r) {
		t.Errorf("the replica follows %+v, want Source %v", role, r.Source("replica"))
	}

	must(t, r.Cut(soon(t), "replica"))
	do(t, addrs["master"], "SET", "late", "v")
	if do(t, addrs["replica"], "EXISTS", "late").Text() == "1" {
		t.Error("a write crossed the cut")
	}
	if have, sent, err = r.Offsets(soon(t), "replica"); err != nil || have >= sent {
		t.Errorf("behind the cut: %d of %d, %v", have, sent, err)
	}
	must(t, r.Heal("replica"))
	must(t, r.Sync(soon(t), "master"))
	if do(t, addrs["replica"], "GET", "late").Text() != "v" {
		t.Error("after healing the replica has not caught up")
	}
}

func portOf(t *testing.T, r *Replication) string {
	t.Helper()
	_, port, err := net.SplitHostPort(r.Source("replica").String())
	must(t, err)
	return port
}

func TestPromote(t *testing.T) {
	r, addrs := pairOf(t)
	must(t, r.Cut(soon(t), "replica"))
	do(t, addrs["master"], "SET", "lost", "v")
	have, sent, err := r.Offsets(soon(t), "replica")
	must(t, err)
	if have >= sent {
		t.Errorf("the replica has %d of %d, want less", have, sent)
	}
	master := addrs["master"]
	addrs["master"] = "" // it is dead, and its last words are remembered
	must(t, r.Promote(soon(t), "replica"))
	if h, s, err := r.Offsets(soon(t), "replica"); h != have || s != sent || err != nil {
		t.Errorf("after the promotion it has %d of %d, %v, want %d of %d", h, s, err, have, sent)
	}
	if r.Primary(0) != "replica" || r.Primary(1) != "" || r.Primary(-1) != "" {
		t.Errorf("the shards are served by %q, %q", r.Primary(0), r.Primary(1))
	}
	if role := do(t, addrs["replica"], "ROLE").Elems[0].Text(); role != "master" {
		t.Errorf("it says that it is a %s", role)
	}
	if err := r.Promote(soon(t), "replica"); err == nil {
		t.Error("it was promoted twice")
	}
	must(t, r.Follow(soon(t), "replica")) // does nothing to a master
	addrs["master"] = master
	must(t, r.Heal("replica"))
	must(t, r.Sync(soon(t), "master")) // it has no followers any more
	if do(t, addrs["replica"], "EXISTS", "lost").Text() != "0" {
		t.Error("the lost write is there")
	}
}

func TestSyncFailsWithoutReplica(t *testing.T) {
	r, addrs := pairOf(t)
	must(t, r.Cut(soon(t), "replica"))
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Sync(short, "master"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync over a cut link: %v", err)
	}
	addrs["replica"] = ""
	if err := r.Sync(soon(t), "master"); err == nil || !strings.Contains(err.Error(), "replica is not running") {
		t.Errorf("Sync with a dead replica: %v", err)
	}
}

func TestNotAReplica(t *testing.T) {
	r := NewReplication(cluster.Topology{Masters: 1, Replicas: 1}.Nodes(), nil, nil)
	for name, want := range map[string]string{
		"master":   "node master is a master, want a replica",
		"register": "node register is a register, want a replica",
		"n7":       `no node "n7" in this cluster; it has master, replica, register`,
	} {
		_, _, offsetsErr := r.Offsets(t.Context(), name)
		for verb, err := range map[string]error{"Cut": r.Cut(soon(t), name), "Heal": r.Heal(name), "Promote": r.Promote(t.Context(), name), "Offsets": offsetsErr} {
			if err == nil || err.Error() != want {
				t.Errorf("%s %s: %v, want %s", verb, name, err, want)
			}
		}
		if r.Source(name).IsValid() || r.Master(name) != "" {
			t.Errorf("%s follows %q at %v", name, r.Master(name), r.Source(name))
		}
	}
	if r.Master("replica") != "master" {
		t.Errorf("replica follows %q", r.Master("replica"))
	}
}
