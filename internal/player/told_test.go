package player_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/sim"
)

// slow is a clock of which some readings reach the reader late: the processor is another's meanwhile.
type slow struct {
	player.Clock
	late func() time.Duration // of the next reading
}

func (c slow) Now() time.Time {
	now := c.Clock.Now()
	if d := c.late(); d > 0 {
		_ = c.Sleep(context.Background(), d)
	}
	return now
}

// TestDeadlineOnABusyMachine checks that the end of a lease that a holder is told does not come out later
// because its clock and the run's could not be read at once: the lock would be accused of what the machine did.
func TestDeadlineOnABusyMachine(t *testing.T) {
	const (
		ttl = 10 * time.Second
		ms  = time.Millisecond
	)
	for name, tc := range map[string]struct {
		late  []time.Duration // the readings after the grant; the last is that of all others, too
		early time.Duration   // how much too early the deadline may come out
	}{
		"at once":                    {late: []time.Duration{0}},
		"the first reading is late":  {late: []time.Duration{22 * ms, 0}},
		"several readings are late":  {late: []time.Duration{22 * ms, 300 * ms, 5 * ms, 0}},
		"all readings are late":      {late: []time.Duration{22 * ms}, early: 22 * ms},
		"all are late, some by less": {late: []time.Duration{22 * ms, 3 * ms, 300 * ms}, early: 3 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			rec := histories.NewRecorder(nil)
			var ends time.Duration // of the lease, on the run's clock
			if err := sim.Run(1, time.Minute, func(w *sim.World) error {
				rec.Start(w.Now)
				right, granted := w.Source(), false
				clock := slow{right, func() (d time.Duration) {
					if granted {
						if d = tc.late[0]; len(tc.late) > 1 {
							tc.late = tc.late[1:]
						}
					}
					return d
				}}
				c := &player.Client{
					Name: "A", Workers: 1, Clock: clock, Recorder: rec, Now: w.Now,
					Lock: leasing{right, func() { ends, granted = w.Now()+ttl, true }},
					Rand: rand.New(rand.NewPCG(1, 1)), Timeout: time.Second,
				}
				return c.Acquire(context.Background(), "k", ttl)
			}); err != nil {
				t.Fatal(err)
			}
			told := rec.Events()[1].Deadline
			if told > ends || told < ends-tc.early {
				t.Errorf("the lease ends at %v, and its holder was told %v; want that, or at most %v less", ends, told, tc.early)
			}
		})
	}
}
