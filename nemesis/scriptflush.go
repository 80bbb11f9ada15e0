package nemesis

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// ScriptFlushF is a server that forgets its scripts.
const ScriptFlushF histories.F = "script-flush"

// scriptFlush makes a server forget every script, so that the next EVALSHA gets NOSCRIPT
// (P57). Keys stay. It is over at once: clients send their scripts again.
func scriptFlush(c cluster.Commander, node string) Fault {
	return Fault{
		F: ScriptFlushF, Target: node, Plan: "SCRIPT FLUSH",
		Start: func(ctx context.Context) (string, error) {
			// A script of our own shows whether scripts are really forgotten.
			probe, err := c.Do(ctx, node, "SCRIPT", "LOAD", "return 'lockbench'")
			if err != nil {
				return "", err
			}
			if _, err := c.Do(ctx, node, "SCRIPT", "FLUSH"); err != nil {
				return "", err
			}
			known, err := c.Do(ctx, node, "SCRIPT", "EXISTS", probe.Text())
			if err != nil {
				return "", err
			}
			if len(known.Elems) != 1 || known.Elems[0].Text() != "0" {
				return "", fmt.Errorf("want a script cache without %s, got %v", probe.Text(), known)
			}
			return "it has forgotten its scripts", nil
		},
	}
}

func scriptFlushKind() Kind {
	return Kind{
		Name: "script-flush", Title: "a server of the lock forgets its scripts (SCRIPT FLUSH)", F: ScriptFlushF, Spares: true, Unsupported: needsCommands,
		Begins: "the servers forget all scripts",
		Hits:   HitsServers, Make: onServer(wantCommands, scriptFlush), Pick: pickServer,
	}
}
