package player_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/nemesis"
)

// TestFaultsOfSchedules checks that the words for faults of schedules are those of the kinds of faults, and that
// a step wants what a kind does.
func TestFaultsOfSchedules(t *testing.T) {
	known := []string{schedule.KillClient}
	for _, k := range nemesis.All() {
		known = append(known, k.Written())
		fits := func(line string) bool {
			_, err := schedule.ParseSteps(2, "start "+k.Written()+line)
			return err == nil
		}
		client := slices.Contains([]nemesis.Hits{nemesis.HitsClient, nemesis.HitsConnections, nemesis.HitsConnection}, k.Hits)
		who, by := "", ""
		if client {
			who = " A"
		}
		if k.Amount == nemesis.ByTime {
			by = " by 2T"
		}
		if k.Amount == nemesis.AtRate {
			by = " times 2"
		}
		if !fits(who + by) {
			t.Errorf("%s cannot be begun: want it to read %q", k.Name, who+by)
		}
		if got := fits(" A" + by); got != client {
			t.Errorf("%s: want its word to be about a client: %v", k.Name, client)
		}
		if got, want := fits(who+" by 2T"), k.Amount == nemesis.ByTime; got != want {
			t.Errorf("%s: want its word to have an amount: %v", k.Name, want)
		}
		if got, want := fits(who+" times 2"), k.Amount == nemesis.AtRate; got != want {
			t.Errorf("%s: want its word to have a rate: %v", k.Name, want)
		}
		if got, want := fits(who+" replica 1"+by), k.Hits == nemesis.HitsReplica; got != want {
			t.Errorf("%s: want its word to be about a replica: %v", k.Name, want)
		}
	}
	words := schedule.Faults()
	slices.Sort(words)
	slices.Sort(known)
	if !slices.Equal(words, known) {
		t.Errorf("schedules know the faults\n%v, and these are made:\n%v", words, known)
	}
}
