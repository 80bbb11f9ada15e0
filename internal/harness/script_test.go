package harness_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/schedule"
)

// script is a workload of so many clients who take these steps.
func script(t *testing.T, clients int, steps string) player.Script {
	t.Helper()
	parsed, err := schedule.ParseSteps(clients, steps)
	if err != nil {
		t.Fatal(err)
	}
	return player.Script{Schedule: schedule.Schedule{Clients: clients, Steps: parsed}}
}
