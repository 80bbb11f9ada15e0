package external

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

// remove deletes the keys that match pattern, until a pass over the database finds none, and
// returns how many it found.
func remove(ctx context.Context, conn *wire.Conn, pattern string) (int, error) {
	all := 0
	for {
		found, err := removeOnce(ctx, conn, pattern)
		all += found
		if err != nil || found == 0 {
			return all, err
		}
	}
}

func removeOnce(ctx context.Context, conn *wire.Conn, pattern string) (found int, err error) {
	for cursor := "0"; ; {
		reply, err := node.Do(ctx, conn, "SCAN", cursor, "MATCH", pattern, "COUNT", "1000")
		if err != nil {
			return found, err
		}
		if len(reply.Elems) != 2 {
			return found, fmt.Errorf("SCAN: want a cursor and keys, got %d elements", len(reply.Elems))
		}
		if keys := reply.Elems[1].Elems; len(keys) > 0 {
			del := []string{"DEL"}
			for _, key := range keys {
				del = append(del, key.Text())
			}
			if _, err := node.Do(ctx, conn, del...); err != nil {
				return found, err
			}
			found += len(keys)
		}
		if cursor = reply.Elems[0].Text(); cursor == "0" {
			return found, nil
		}
	}
}
