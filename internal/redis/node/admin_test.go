package node

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/internal/wire"
)

func TestCommand(t *testing.T) {
	addr := locktest.StartRedis(t)
	if got := do(t, addr, "SET", "k", "v").Text(); got != "OK" {
		t.Errorf("SET answers %q", got)
	}
	var refused wire.ReplyError
	if _, err := Command(soon(t), addr, "LPUSH", "k", "v"); !errors.As(err, &refused) {
		t.Errorf("an error reply came as %v", err)
	}
	if _, err := Command(soon(t), addr); err == nil {
		t.Error("no command was sent")
	}
	must(t, Admin(soon(t), addr, func(conn *wire.Conn) error {
		if n, err := Info(soon(t), conn, "keyspace", "no such field"); err == nil {
			t.Errorf("INFO has what is not there: %d", n)
		}
		hits, err := Info(soon(t), conn, "stats", "keyspace_hits")
		if err == nil && hits != 0 {
			t.Errorf("keyspace_hits is %d, want 0", hits)
		}
		return err
	}))
}

// Where a context ends the wait its cause is the error.
func TestAdminNamesTheCause(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	must(t, err)
	defer l.Close()
	why := errors.New("why")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, why)
	defer cancel()
	if _, err := Command(ctx, l.Addr().String(), "PING"); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestInspect(t *testing.T) {
	addr := locktest.StartRedis(t)
	do(t, addr, "SET", "string", "v", "PX", "60000")
	do(t, addr, "HSET", "hash", "f", "v", "e", "w")
	do(t, addr, "ZADD", "set", "1.5", "second", "3795261152000001", "first")
	var got []cluster.KeyState
	must(t, Admin(soon(t), addr, func(conn *wire.Conn) (err error) {
		got, err = Inspect(soon(t), conn, 0, []string{"string", "hash", "set", "absent"})
		return err
	}))
	if ttl := got[0].TTL; ttl <= 0 || ttl > time.Minute {
		t.Errorf("TTL is %v, want up to 1m", ttl)
	}
	got[0].TTL = 0
	want := []cluster.KeyState{
		{Key: "string", Exists: true, Type: "string", Value: "v"},
		{Key: "hash", Exists: true, Type: "hash", TTL: histories.NoTTL, Fields: []cluster.Field{{Name: "e", Value: "w"}, {Name: "f", Value: "v"}}},
		{
			Key: "set", Exists: true, Type: "zset", TTL: histories.NoTTL,
			Fields: []cluster.Field{{Name: "first", Value: "3795261152000001"}, {Name: "second", Value: "1.5"}},
		},
		{Key: "absent"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrors(t *testing.T) {
	var op *net.OpError
	if err := Refused("n1"); !errors.As(err, &op) || op.Op != "dial" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Refused is %v", err)
	}
	for _, bad := range []cluster.Topology{{}, {Masters: -1}, {Masters: 1, Replicas: -1}} {
		if Check(bad) == nil {
			t.Errorf("%+v can be started", bad)
		}
	}
	must(t, Check(cluster.Topology{Masters: 5, Replicas: 2}))
}
