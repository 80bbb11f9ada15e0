package process

import (
	"context"

	"github.com/lockbench/lockbench/internal/redis/node"
	"github.com/lockbench/lockbench/internal/wire"
)

// askProcessID says which process answers at addr.
func askProcessID(ctx context.Context, addr string) (pid int, err error) {
	err = node.Admin(ctx, addr, func(conn *wire.Conn) error {
		if _, err := node.Do(ctx, conn, "PING"); err != nil {
			return err
		}
		id, err := node.Info(ctx, conn, "server", "process_id")
		pid = int(id)
		return err
	})
	return pid, err
}
