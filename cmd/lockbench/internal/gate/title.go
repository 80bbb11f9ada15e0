package gate

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// title says what was run.
func (r Results) title() string {
	about := []string{"the catalogue"}
	switch {
	case len(r.Worker) > 0:
		about = []string{"worker " + strings.Join(r.Worker, " "), r.Class}
	case r.Lock != "":
		about = []string{"lock " + r.Lock, r.Class}
	}
	about = append(about, r.where())
	switch {
	case r.Again != "":
		about = append(about, "only what had failed")
	case r.Runs > 1:
		about = append(about, fmt.Sprintf("seeds %d to %d", r.Seed, r.Seed+uint64(r.Runs)-1))
	default:
		about = append(about, fmt.Sprintf("seed %d", r.Seed))
	}
	if r.Shard.Of > 1 {
		about = append(about, "shard "+r.Shard.String())
	}
	if len(r.FailOn) > 0 {
		about = append(about, "decided by "+strings.Join(labels(r.FailOn), ", "))
	}
	return strings.Join(append(about, words.Count(r.Share, "run")), " · ")
}

// backend is a backend's name, and that its time is virtual, if it is.
func backend(name string) string {
	if histories.VirtualTime(name) {
		return histories.DescribeBackend(name)
	}
	return name
}
