package embedded_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// TestClusterMode checks which commands a master in cluster mode refuses, and that the
// register and other masters are as ever. Package process has the same test.
func TestClusterMode(t *testing.T) {
	const refused = "CROSSSLOT Keys in request don't hash to the same slot"
	commands := []struct {
		args []string
		want string // in cluster mode; "" means as without
	}{
		{[]string{"SET", "orders/42", "1"}, ""},
		{[]string{"EVAL", "return 1", "2", "orders/42", "orders/42:read"}, refused},
		{[]string{"EVALSHA", "abc", "2", "orders/42", "orders/42:read"}, refused},
		{[]string{"EVAL", "return 1", "2", "orders/42", "{orders/42}:read"}, ""},
		{[]string{"EVAL", "return 1", "1", "orders/42", "orders/42:read"}, ""}, // an argument is no key
		{[]string{"EXISTS", "orders/42", "orders/42:read"}, refused},
		{[]string{"WATCH", "orders/42", "orders/42:read"}, refused},
		{[]string{"DEL", "orders/42", "{orders/42}:read"}, ""},
		{[]string{"MSET", "a", "1", "b", "2"}, refused},
		{[]string{"MULTI"}, ""},
		{[]string{"DEL", "orders/42", "orders/42:read"}, refused},
		{[]string{"EXEC"}, "EXECABORT Transaction discarded because of previous errors."},
	}
	in(t, cluster.Topology{Masters: 1, ClusterMode: true}, func(w *world) {
		for _, c := range commands {
			got := w.do("master", c.args...)
			if c.want != "" && got != c.want {
				t.Errorf("%v: %q, want %q", c.args, got, c.want)
			}
			if c.want == "" && got == refused {
				t.Errorf("%v is refused", c.args)
			}
		}
		if got := w.do("register", "EXISTS", "orders/42", "orders/42:read"); got == refused {
			t.Error("the register is in cluster mode, too")
		}
	})
	in(t, cluster.Topology{Masters: 1}, func(w *world) {
		if got := w.do("master", "EXISTS", "orders/42", "orders/42:read"); got == refused {
			t.Error("a master is in cluster mode, and nobody asked for that")
		}
	})
}
