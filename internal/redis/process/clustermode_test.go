package process

import (
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// TestClusterMode checks which commands a master in cluster mode refuses, also after it was
// started again. The embedded one is held to the same answers.
func TestClusterMode(t *testing.T) {
	c := upAs(t, cluster.Topology{Masters: 1, ClusterMode: true})
	const refused = "CROSSSLOT Keys in request don't hash to the same slot"
	check := func() {
		t.Helper()
		conn := dial(t, c, "A", "master")
		for _, tc := range []struct {
			args []string
			want string // the error, empty: none
		}{
			{[]string{"SET", "orders/42", "1"}, ""},
			{[]string{"EVAL", "return 1", "2", "orders/42", "orders/42:read"}, refused},
			{[]string{"EVALSHA", "abc", "2", "orders/42", "orders/42:read"}, refused},
			{[]string{"EVAL", "return 1", "2", "orders/42", "{orders/42}:read"}, ""},
			{[]string{"EVAL", "return 1", "1", "orders/42", "orders/42:read"}, ""},
			{[]string{"EXISTS", "orders/42", "orders/42:read"}, refused},
			{[]string{"WATCH", "orders/42", "orders/42:read"}, refused},
			{[]string{"MSET", "a", "1", "b", "2"}, refused},
			{[]string{"MULTI"}, ""},
			{[]string{"DEL", "orders/42", "orders/42:read"}, refused},
			{[]string{"EXEC"}, "EXECABORT Transaction discarded because of previous errors."},
			{[]string{"DEL", "orders/42", "{orders/42}:read"}, ""},
		} {
			reply, err := conn.Do(soon(t), tc.args...)
			must(t, err)
			got := ""
			if err := reply.Err(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%v: %q, want %q", tc.args, got, tc.want)
			}
		}
		mustDo(t, conn, "SET", "b", "2")
		states, err := c.Inspect(soon(t), "master", 0, "a", "b") // keys of different slots
		must(t, err)
		if states[0].Exists || states[1].Value != "2" {
			t.Errorf("inspect: %+v", states)
		}
	}
	check()
	must(t, c.Kill(soon(t), "master"))
	must(t, c.Restart(soon(t), "master"))
	check()
	if reply, err := node.Do(soon(t), dial(t, c, "A", "register"), "EXISTS", "a", "b"); err != nil {
		t.Errorf("the register is in cluster mode, too: %v, %v", reply, err)
	}
}
