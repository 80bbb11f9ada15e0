package embedded

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// exchange is a command and its reply.
type exchange struct{ command, reply string }

// conditionals are answered so by Valkey 9.1.2, in this order.
func conditionals() []exchange {
	const arity, syntax = "-ERR wrong number of arguments for 'delifeq' command", "-ERR syntax error"
	const wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value"
	return []exchange{
		{"SET k a", "+OK"}, {"DELIFEQ k b", ":0"}, {"GET k", `"a"`}, {"DELIFEQ k a", ":1"}, {"DELIFEQ k a", ":0"}, {"EXISTS k", ":0"},
		{"DELIFEQ", arity}, {"DELIFEQ k", arity}, {"DELIFEQ k a b", arity}, {"HSET h f v", ":1"}, {"DELIFEQ h v", wrongType},
		{"SET k a IFEQ a PX 100000", "nil"}, {"EXISTS k", ":0"}, // a key that is gone is not set
		{"SET k a", "+OK"}, {"TTL k", ":-1"}, {"SET k a IFEQ a PX 100000", "+OK"}, {"TTL k", ":100"}, {"SET k b IFEQ x", "nil"}, {"TTL k", ":100"},
		{"SET k b IFEQ a", "+OK"}, {"TTL k", ":-1"}, {"set k c ifeq b ex 100", "+OK"}, {"SET k d IFEQ c KEEPTTL", "+OK"}, {"TTL k", ":100"},
		{"SET h a IFEQ a", wrongType}, {"SET k c IFEQ", syntax}, {"SET k c IFEQ b NX", syntax}, {"SET k c NX IFEQ b", syntax}, {"SET k c XX IFEQ b", syntax},
		{"SET k c IFEQ b XX", syntax}, {"SET k c IFEQ b IFEQ b", syntax}, {"SET k c IFEQ b FOO", syntax}, {"SET k c IFEQ x PX", syntax},
		{"SET k c IFEQ x KEEPTTL PX 100", syntax}, {"SET k c IFEQ x EX 1 PX 100", syntax},
		{"SET k c IFEQ x PX 0", "-ERR invalid expire time in 'set' command"}, {"SET k c IFEQ x PX y", "-ERR value is not an integer or out of range"},
		{"SET k c IFEQ d GET", `"d"`}, {"SET k d IFEQ x GET", `"c"`}, {"GET k", `"c"`}, {"SET none d IFEQ x GET", "nil"}, {"EXISTS none", ":0"}, {"SET h d IFEQ x GET", wrongType},
		{"SET k IFEQ", "+OK"}, {"SET k PX IFEQ IFEQ", "+OK"}, {"GET k", `"PX"`}, // what looks like an option and is a value
		{"SET n 12", "+OK"}, {"SET n 13 IFEQ 12", "+OK"}, {"DELIFEQ n 13.0", ":0"},
		{"SELECT 3", "+OK"}, {"SET n 1", "+OK"}, {"DELIFEQ n 1", ":1"}, {"SELECT 0", "+OK"}, {"GET n", `"13"`},
		{"EVAL return_redis.call('DELIFEQ','n','12') 0", ":0"}, {"EVAL return_redis.call('SET','n','14','IFEQ','13') 0", "+OK"},
		{"EVAL return_redis.call('SET','n','15','IFEQ','13') 0", "nil"}, {"EVAL return_redis.call('DELIFEQ','n','14') 0", ":1"},
		{"EVAL return_redis.pcall('DELIFEQ','h','14') 0", wrongType},
	}
}

func (x exchange) sent() []string {
	args := strings.Fields(x.command)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "return_", "return ")
	}
	return args
}

// TestConditionals compares with what Valkey has answered.
func TestConditionals(t *testing.T) {
	m, _ := scriptServer(t)
	ours := dial(t, m)
	for _, x := range conditionals() {
		ours.want(x.reply, x.sent()...)
	}
}

// TestConditionalsOfValkey: a real server still answers so.
func TestConditionalsOfValkey(t *testing.T) {
	path := os.Getenv("LOCKBENCH_VALKEY")
	if path == "" {
		t.Skip("optional: set LOCKBENCH_VALKEY to a valkey-server 9.0 or newer")
	}
	conn, err := net.Dial("tcp", locktest.StartServer(t, path))
	if err != nil {
		t.Fatal(err)
	}
	theirs := newClient(t, conn)
	for _, x := range conditionals() {
		theirs.want(x.reply, x.sent()...)
	}
}

// TestDelEx goes by the documentation of Redis 8.4 and Valkey 9.2, and by what the twin answers.
func TestDelEx(t *testing.T) {
	m, _ := scriptServer(t)
	ours := dial(t, m)
	for _, x := range []exchange{
		{"SET k a", "+OK"}, {"DELEX k IFEQ b", ":0"}, {"DELEX k IFNE a", ":0"}, {"GET k", `"a"`}, {"DELEX k IFEQ a", ":1"}, {"DELEX k IFEQ a", ":0"},
		{"DELEX k IFNE a", ":0"}, {"SET k a", "+OK"}, {"DELEX k IFNE b", ":1"}, {"HSET h f v", ":1"},
		{"DELEX h IFEQ v", "-WRONGTYPE Operation against a key holding the wrong kind of value"}, {"DELEX h", ":1"}, {"DELEX h", ":0"},
		{"DELEX", "-ERR wrong number of arguments for 'delex' command"}, {"DELEX k IFEQ", "-ERR wrong number of arguments for 'delex' command"},
		{"SET k a IFNE a", "+OK"}, {"SET k b IFNE a", "nil"}, {"GET k", `"a"`}, {"SET k c IFNE b", "+OK"}, {"GET k", `"c"`},
		{"MULTI", "+OK"}, {"DELEX k IFEQ c", "-" + notSimulated + "DELEX with a condition in a transaction"},
		{"EXEC", "-EXECABORT Transaction discarded because of previous errors."}, {"GET k", `"c"`},
	} {
		ours.want(x.reply, x.sent()...)
	}
}
