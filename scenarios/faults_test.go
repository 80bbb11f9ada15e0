package scenarios_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/scenarios"
)

// TestEveryFaultBySchedule begins every fault that virtual time can have by its word, and sees that it takes
// place and is over.
func TestEveryFaultBySchedule(t *testing.T) {
	for _, k := range nemesis.All() {
		if !slices.Contains(schedule.Faults(), k.Written()) || k.Unsupported(harness.Embedded().Type) != nil {
			continue
		}
		t.Run(k.Written(), func(t *testing.T) {
			step := k.Written()
			switch k.Hits {
			case nemesis.HitsClient, nemesis.HitsConnections, nemesis.HitsConnection:
				step += " A"
			}
			by := ""
			if k.Amount == nemesis.ByTime {
				by = " by 0.25T"
			}
			if k.Amount == nemesis.AtRate {
				by = " times 2"
			}
			head := "lockbench schedule 1\nclients 2\nlock setnx-px-lua\nttl 2s\nclocks\n"
			if k.Name == "pause-thread" {
				head += "threads 2\n"
			}
			if k.Replicas > 0 {
				head += fmt.Sprintf("replicas %d\n", k.Replicas)
			}
			src := head + "A acquire\nstart " + step + by + "\nsleep 0.1T\n"
			if stopped := src + "stop " + step + "\nB acquire\n"; parses(stopped) {
				src = stopped
			}
			s, err := scenarios.Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			lock, err := locks.All().Find("setnx-px-lua")
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := s.Config(lock, resource.None, harness.Embedded(), 0)
			if err != nil {
				t.Fatal(err)
			}
			res, err := harness.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			over := func(e histories.Event) bool {
				return e.F == k.F && e.Process == histories.Nemesis && e.Type == histories.OK && e.Value != ""
			}
			if !slices.ContainsFunc(res.Events, over) {
				t.Errorf("want a %s that is over in the history, found none", k.F)
			}
		})
	}
}

func parses(src string) bool {
	_, err := scenarios.Parse(src)
	return err == nil
}
