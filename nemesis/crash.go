package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/words"
)

// CrashF is a client that dies and comes back as another.
const CrashF histories.F = "kill-client"

// Mortal is a client's memory, which a crash wipes out. Crash records that the client has
// died, once kill has killed it: by then it believes nothing any more, and the call that it
// was in has no outcome. Until Restart it does nothing.
type Mortal interface {
	Crash(kill func() error) error
	Restart()
}

// crash ends a client in the middle of whatever it does; when the fault is over, a new one
// takes its place and knows nothing of the old one's locks. What that held stays on the
// servers until its TTL ends. A client that has a process of its own is killed by SIGKILL.
// Without one (nil) that is simulated: its connections break, and what it was about to do it
// never does.
func crash(client string, memory Mortal, gate *Gate, links []*wire.Link, process Process, clock Clock) Fault {
	if process != nil {
		return kill(client, memory, gate, process)
	}
	broken := 0
	return Fault{
		F: CrashF, Target: client, Plan: "client dies (simulated)", Simulated: true,
		Start: func(ctx context.Context) (string, error) {
			gate.Close()
			if err := memory.Crash(func() error { return nil }); err != nil {
				return "", err
			}
			for _, l := range links {
				broken += l.Cut()
				if err := apart(ctx, clock); err != nil {
					return "", err
				}
			}
			return fmt.Sprintf("%s broke", words.Count(broken, "connection")), nil
		},
		Stop: func(context.Context) (string, error) {
			for _, l := range links {
				l.Heal()
			}
			memory.Restart()
			gate.Open()
			return "a new client takes its place", nil
		},
	}
}

// kill is a crash that is not simulated.
func kill(client string, memory Mortal, gate *Gate, process Process) Fault {
	return Fault{
		F: CrashF, Target: client, Plan: "client dies (SIGKILL)",
		Start: func(ctx context.Context) (string, error) {
			gate.Close()
			var died string
			err := memory.Crash(func() (err error) {
				died, err = process.Kill(ctx)
				return err
			})
			return died, err
		},
		Stop: func(ctx context.Context) (string, error) {
			next, err := process.Restart(ctx)
			if err != nil {
				return "", err
			}
			memory.Restart()
			gate.Open()
			return next, nil
		},
	}
}

func crashKind() Kind {
	return Kind{
		Name: CrashName, Title: "a client dies, and later a new one takes its place", F: CrashF, Client: true, Unsupported: anywhere,
		Means:  means("SIGKILL of the client's process"),
		Hits:   HitsClient,
		Begins: "{client} crashes, and another will take its place",
		Ends:   "another client takes the place of {client}",
		Make: onClient(func(s Scene, c Victim, _ Target) Fault {
			return crash(c.Name, c.Memory, c.Gate, s.allLinks(c.Name), c.Process, s.Clock)
		}),
		Pick: pickClient,
	}
}
