package embedded

import (
	"net"
	"os"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// endingFields are answered so by Redis 8.0.2 and by Valkey 9.1.2, in this order.
func endingFields() []exchange {
	const wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value"
	return []exchange{
		{"HSETEX k FNX PX 100000 FIELDS 1 owner a", ":1"}, {"HSETEX k FNX PX 200000 FIELDS 1 owner b", ":0"}, {"HGET k owner", `"a"`},
		{"HTTL k FIELDS 1 owner", "[:100]"}, {"PTTL k", ":-1"}, {"TYPE k", "+hash"}, {"HTTL k FIELDS 2 owner x", "[:100 :-2]"},
		{"HSETEX k FXX PX 200000 FIELDS 1 owner a", ":1"}, {"HTTL k FIELDS 1 owner", "[:200]"}, {"HSETEX k FXX PX 200000 FIELDS 1 x a", ":0"},
		{"HSETEX k FXX KEEPTTL FIELDS 1 owner c", ":1"}, {"HTTL k FIELDS 1 owner", "[:200]"}, {"HGET k owner", `"c"`},
		{"HSETEX k FIELDS 1 owner c", ":1"}, {"HTTL k FIELDS 1 owner", "[:-1]"}, {"HEXPIRE k 100 FIELDS 1 owner", "[:1]"}, {"HTTL k FIELDS 1 owner", "[:100]"},
		{"HPERSIST k FIELDS 1 owner", "[:1]"}, {"HTTL k FIELDS 1 owner", "[:-1]"}, {"hsetex k ex 100 fields 1 owner d", ":1"}, {"HTTL k FIELDS 1 owner", "[:100]"},
		{"HDEL k owner", ":1"}, {"EXISTS k", ":0"}, {"HDEL k owner", ":0"}, {"HTTL k FIELDS 1 owner", "[:-2]"}, {"HSETEX k FXX PX 100000 FIELDS 1 owner a", ":0"}, {"EXISTS k", ":0"},
		{"SET s 1", "+OK"}, {"HSETEX s FNX PX 100000 FIELDS 1 owner a", wrongType}, {"HTTL s FIELDS 1 owner", wrongType}, {"RPUSH l x", ":1"}, {"HSETEX l FNX PX 100000 FIELDS 1 owner a", wrongType},
		{"EVAL return_redis.call('HSETEX','k','FNX','PX',100000,'FIELDS',1,'owner','a') 0", ":1"}, {"EVAL return_redis.call('HSETEX','k','FNX','PX',1,'FIELDS',1,'owner','b') 0", ":0"},
		{"EVAL return_redis.call('HTTL','k','FIELDS',1,'owner') 0", "[:100]"}, {"EVAL return_redis.pcall('HSETEX','s','FNX','PX',1,'FIELDS',1,'owner','b') 0", wrongType},
		{"MULTI", "+OK"}, {"HSETEX k FXX PX 300000 FIELDS 1 owner a", "+QUEUED"}, {"EXEC", "[:1]"}, {"HTTL k FIELDS 1 owner", "[:300]"},
	}
}

// TestEndingFields compares with what the servers have answered.
func TestEndingFields(t *testing.T) {
	m, _ := scriptServer(t)
	ours := dial(t, m)
	for _, x := range endingFields() {
		ours.want(x.reply, x.sent()...)
	}
}

// TestEndingFieldsOfServers: a real server still answers so.
func TestEndingFieldsOfServers(t *testing.T) {
	path := os.Getenv("LOCKBENCH_HSETEX")
	if path == "" {
		t.Skip("optional: set LOCKBENCH_HSETEX to a redis-server 8.0 or a valkey-server 9.0, or newer")
	}
	conn, err := net.Dial("tcp", locktest.StartServer(t, path))
	if err != nil {
		t.Fatal(err)
	}
	theirs := newClient(t, conn)
	for _, x := range endingFields() {
		theirs.want(x.reply, x.sent()...)
	}
}

// TestEndingFieldsDiffer is what miniredis does otherwise, and no lock of the catalogue minds: HSET, and HDEL
// if other fields are left, leave a field's time to live behind, and 0 milliseconds are refused.
func TestEndingFieldsDiffer(t *testing.T) {
	m, _ := scriptServer(t)
	ours := dial(t, m)
	for _, x := range []exchange{
		{"HSETEX k EX 100 FIELDS 2 a 1 b 2", ":1"}, {"HSET k a 2", ":0"}, {"HTTL k FIELDS 1 a", "[:100]"}, // a server: -1
		{"HDEL k a", ":1"}, {"HSET k a 3", ":1"}, {"HTTL k FIELDS 1 a", "[:100]"}, // a server: -1
		{"HSETEX k PX 0 FIELDS 1 a 1", "-ERR invalid expire time, must be >= 0"}, // a server: 1
	} {
		ours.want(x.reply, x.sent()...)
	}
}
