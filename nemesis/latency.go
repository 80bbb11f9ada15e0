package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/wire"
)

// LatencyF is a network that takes longer.
const LatencyF histories.F = "latency"

// Latency makes everything between a client and the servers of the lock take longer, each
// way, by what by says (P23, P27). It keeps the order of a connection's messages, but not
// that of two connections. What is on its way when it is healed still takes its time.
func Latency(client string, links []*wire.Link, by wire.Latency) Fault {
	var delays []*wire.Delay
	return Fault{
		F: LatencyF, Target: client,
		Plan: fmt.Sprintf("to the lock's servers and back takes longer, each way by %v and up to %v of jitter", by.Base, by.Jitter),
		Start: func(context.Context) (string, error) {
			for _, l := range links {
				d, err := l.Delay(by)
				if err != nil {
					stopAll(delays)
					return "", err
				}
				delays = append(delays, d)
			}
			return "", nil
		},
		Stop: func(context.Context) (string, error) {
			stopAll(delays)
			return delayed(delays), nil
		},
	}
}

func stopAll(delays []*wire.Delay) {
	for _, d := range delays {
		d.Stop()
	}
}

// delayed says what was measured.
func delayed(delays []*wire.Delay) string {
	var all wire.Delayed
	for _, d := range delays {
		seen := d.Seen()
		if seen.Messages == 0 {
			continue
		}
		if all.Messages == 0 || seen.Least < all.Least {
			all.Least = seen.Least
		}
		all.Most = max(all.Most, seen.Most)
		all.Messages += seen.Messages
	}
	if all.Messages == 0 {
		return "nothing was delayed"
	}
	return fmt.Sprintf("%s delayed, by %v to %v", count(all.Messages, "message"),
		all.Least.Round(time.Microsecond), all.Most.Round(time.Microsecond))
}

func latencyKind() Kind {
	return Kind{
		Name: "latency", Title: "what a client and the lock's servers send each other takes longer, with jitter", F: LatencyF, Client: true, Needs: anywhere,
		Draw: func(s Scene, r *rand.Rand) (Fault, bool) {
			c := s.client(r)
			// From a little up to more than clients wait for a reply.
			most := int64(s.TTL)/4 + 1
			by := wire.Latency{Base: time.Duration(r.Int64N(most)), Jitter: time.Duration(r.Int64N(most)), Seed: r.Uint64()}
			return Latency(c.Name, s.links(c.Name), by), true
		},
	}
}
