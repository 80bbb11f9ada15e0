package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/words"
)

// pauseThread stops one of several threads that share a process. Its code stands still at the next call or look at the clock. The
// connections, and whatever else belongs to the process, go on.
func pauseThread(client string, gate *Gate) Fault {
	return Fault{
		F: PauseF, Target: client, Plan: "thread stands still (simulated)", Simulated: true,
		Start: func(context.Context) (string, error) {
			gate.Close()
			return "", seeStanding(gate, nil, true)
		},
		Stop: func(context.Context) (string, error) {
			if err := seeStanding(gate, nil, true); err != nil {
				return "", err
			}
			_, calls := gate.Closed()
			gate.Open()
			return fmt.Sprintf("thread goes on; had stood still: %s", words.Count(calls, "call")), seeStanding(gate, nil, false)
		},
	}
}

// pauseThreadKind is for schedules alone: the clients of random runs are processes.
func pauseThreadKind() Kind {
	return Kind{
		Name: "pause-thread", Title: "one of several threads of a process stands still", F: PauseF, Client: true, Unsupported: anywhere,
		Means:  func(cluster.Cluster) string { return "simulated" },
		Hits:   HitsClient,
		Begins: "the thread {client} stands still, and its process goes on",
		Ends:   "the thread {client} goes on",
		Make: func(s Scene, t Target) (Fault, error) {
			c, err := s.victim(t)
			if err == nil && c.Thread == nil {
				err = &IncapableError{Want: fmt.Sprintf("stop %s alone: it is no thread beside others in lockbench's own process", c.Name)}
			}
			if err != nil {
				return Fault{}, err
			}
			return pauseThread(c.Name, c.Thread), nil
		},
	}
}
