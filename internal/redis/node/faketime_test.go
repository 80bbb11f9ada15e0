package node

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestStartSeen looks at a clock over a network that delays questions and answers, and
// wants what is said about its start to be true, and no worse than the best look.
func TestStartSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
	for range 1000 {
		began := time.Now()
		now := began.Add(upTo(time.Second))
		var f Faketime
		best := time.Hour
		for i := range 20 {
			before := now
			now = now.Add(upTo(10 * time.Millisecond))
			shown := began.Add(startRate * now.Sub(began)).Truncate(time.Microsecond)
			now = now.Add(upTo(10 * time.Millisecond))
			look := startSeen(before, now, shown)
			if best = min(best, look.within); i == 0 {
				f = look
			} else {
				f = f.and(look)
			}
		}
		if off := f.began.Sub(began).Abs(); off > f.within+time.Microsecond {
			t.Fatalf("off by %v, and said to be within %v", off, f.within)
		}
		if f.within > best {
			t.Fatalf("within %v, where one look alone is within %v", f.within, best)
		}
	}
}

func TestLooksThatContradictEachOther(t *testing.T) {
	now := time.Now()
	far := Faketime{began: now, within: 2 * time.Millisecond}
	near := Faketime{began: now.Add(time.Second), within: time.Millisecond}
	for _, got := range []Faketime{far.and(near), near.and(far)} {
		if got != near {
			t.Errorf("%v, want the closer look, %v", got, near)
		}
	}
}
