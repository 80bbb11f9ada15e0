package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// RestartDelayedF is a server that dies and comes back empty when all that it had
// granted has expired.
const RestartDelayedF histories.F = "restart-delayed"

// restartDelayed kills a server; healing waits until delay has passed since, and starts
// it again with nothing of what it held. With the longest TTL as the delay this is the
// advice of Redlock for servers that keep no file (P21).
func restartDelayed(c restarter, clock Clock, node string, delay time.Duration) Fault {
	var dead time.Time
	f := restart(c, node)
	kill, restart := f.Start, f.Stop
	f.F, f.Plan = RestartDelayedF, fmt.Sprintf("kill -9, for %v or longer", delay)
	f.Start = func(ctx context.Context) (string, error) {
		seen, err := kill(ctx)
		dead = clock.Now() // from here on it grants nothing
		return seen, err
	}
	f.Stop = func(ctx context.Context) (string, error) {
		if rest := delay - clock.Now().Sub(dead); rest > 0 {
			if err := clock.Sleep(ctx, rest); err != nil {
				return "", err
			}
		}
		seen, err := restart(ctx)
		return fmt.Sprintf("%s, %s", away(clock, dead), seen), err
	}
	return f
}

func restartDelayedKind() Kind {
	return Kind{
		Name: "restart-delayed", Title: "a server of the lock dies and comes back empty, a TTL later or more", F: RestartDelayedF,
		Unsupported: restartKind().Unsupported,
		Hits:        HitsServer,
		Begins:      "{server}: killed",
		Ends:        "{server}: started again, empty, a TTL after its death",
		Make: func(s Scene, t Target) (Fault, error) {
			return onServer(wantRestart, func(c restarter, node string) Fault { return restartDelayed(c, s.Clock, node, s.TTL) })(s, t)
		},
		Pick: pickServer,
	}
}
