package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// LatencyF is a network that takes longer.
const LatencyF histories.F = "latency"

// latency makes everything between a client and the servers of the lock take longer, each
// way, by what by says (P23, P27). It keeps the order of a connection's messages, but not
// that of two connections. What is on its way when it is healed still takes its time.
func latency(client string, links []*wire.Link, by wire.Latency) Fault {
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
	return fmt.Sprintf("%s delayed, by %v to %v", words.Count(all.Messages, "message"),
		all.Least.Round(time.Microsecond), all.Most.Round(time.Microsecond))
}

func latencyKind() Kind {
	return Kind{
		Name: "latency", Title: "what a client and the lock's servers send each other takes longer, with jitter", F: LatencyF, Client: true, Unsupported: anywhere,
		Hits: HitsClient, Amount: ByTime,
		Begins: "{client} is {by} away from the lock's servers",
		Ends:   "{client} is no longer away from the lock's servers",
		Make: onClient(func(s Scene, c Victim, t Target) Fault {
			return latency(c.Name, s.links(c.Name), wire.Latency{Base: t.By, Jitter: t.Jitter, Seed: t.Seed})
		}),
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, ok := pickClient(s, r)
			// From a little up to more than clients wait for a reply.
			most := int64(s.TTL)/4 + 1
			t.By, t.Jitter, t.Seed = time.Duration(r.Int64N(most)), time.Duration(r.Int64N(most)), r.Uint64()
			return t, ok
		},
	}
}
