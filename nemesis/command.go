package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

func needsCommands(c cluster.Cluster) error {
	if _, ok := c.(cluster.Commander); !ok {
		return errors.New("its servers cannot be sent commands past the clients")
	}
	return nil
}

// number sends a command whose reply is a number.
func number(ctx context.Context, c cluster.Commander, node string, args ...string) (int64, error) {
	reply, err := c.Do(ctx, node, args...)
	if err != nil {
		return 0, err
	}
	return reply.Int()
}

// setting reads one setting of a server.
func setting(ctx context.Context, c cluster.Commander, node, name string) (string, error) {
	reply, err := c.Do(ctx, node, "CONFIG", "GET", name)
	if err != nil {
		return "", err
	}
	if len(reply.Elems) != 2 {
		return "", fmt.Errorf("CONFIG GET %s on %s: want one setting, got %v", name, node, reply)
	}
	return reply.Elems[1].Text(), nil
}

// keys says how many keys there are, for people.
func keys(n int64) string {
	if n == 1 {
		return "1 key"
	}
	return fmt.Sprint(n, " keys")
}

// isOOM reports whether a server refused a write for want of memory.
func isOOM(err error) bool {
	var refused wire.ReplyError
	return errors.As(err, &refused) && strings.HasPrefix(string(refused), "OOM ")
}
