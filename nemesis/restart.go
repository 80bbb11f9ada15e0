package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// RestartF is a server that dies and comes back empty.
const RestartF histories.F = "restart"

// restarter is a deployment whose servers can die and come back.
type restarter interface {
	killable
	cluster.Commander
	cluster.Restarter
}

// restartProbe is a key that must not outlive the server that it is written to.
const restartProbe = "lockbench:restart"

// restart kills a server; healing starts it again, with nothing of what it held (P21,
// P51).
func restart(c restarter, node string) Fault {
	return Fault{
		F: RestartF, Target: node, Plan: "kill -9",
		Start: func(ctx context.Context) (string, error) {
			before, err := number(ctx, c, node, "DBSIZE")
			if err != nil {
				return "", err
			}
			seen := "it died with " + keys(before)
			_, err = c.Do(ctx, node, "SET", restartProbe, "1", "PX", "60000")
			if refused := wire.ReplyError(""); errors.As(err, &refused) { // such as by a replica
				seen, err = seen+", and took no writes before", nil
			}
			if err != nil {
				return "", err
			}
			if err := c.Kill(ctx, node); err != nil {
				return "", err
			}
			return seen, seeDead(c, node)
		},
		Stop: func(ctx context.Context) (string, error) {
			if err := c.Restart(ctx, node); err != nil {
				return "", err
			}
			// Clients may have written by now, and only they.
			left, err := number(ctx, c, node, "EXISTS", restartProbe)
			if err == nil && left != 0 {
				err = fmt.Errorf("%s ought to have come back empty, and still has a key of before", node)
			}
			return "started again, empty", err
		},
	}
}

func restartKind() Kind {
	return Kind{
		Name: "restart", Title: "a server of the lock dies and comes back empty", F: RestartF, AtOnce: true, Brief: true,
		Unsupported: func(c cluster.Cluster) error {
			if _, ok := c.(restarter); !ok {
				return errors.New("its servers cannot be killed and started again")
			}
			return nil
		},
		Begins: "{server}: killed",
		Ends:   "{server}: started again, empty",
		Hits:   HitsServer, Make: onServer(wantRestart, restart), Pick: pickServer,
	}
}
