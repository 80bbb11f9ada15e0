package node

import (
	"errors"
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

// TestLearn looks at clocks on machines that are more and less busy.
func TestLearn(t *testing.T) {
	began := time.Now()
	for name, tc := range map[string]struct {
		rate   int64
		each   time.Duration // that a look takes
		looks  int
		within time.Duration
		fails  bool
	}{
		"quiet":     {startRate, 100 * time.Microsecond, 1, 100 * time.Microsecond, false},
		"busy":      {startRate, time.Millisecond, 100, time.Millisecond, false},
		"very busy": {startRate, 200 * time.Millisecond, 51, 200 * time.Millisecond, false},
		"no faster": {1, 200 * time.Millisecond, 100, 0, true},
	} {
		now, looks := began.Add(time.Second), 0
		f, err := learn(func() (before, after, shown time.Time, err error) {
			before, looks = now, looks+1
			now = now.Add(tc.each)
			return before, now, began.Add(time.Duration(tc.rate) * before.Add(tc.each/2).Sub(began)), nil
		})
		if (err != nil) != tc.fails || looks != tc.looks || err == nil && (f.within > tc.within || f.began.Sub(began).Abs() > f.within+time.Microsecond) {
			t.Errorf("%s: %+v after %d looks, %v; want %d and within %v", name, f, looks, err, tc.looks, tc.within)
		}
	}
	gone := errors.New("gone")
	if _, err := learn(func() (before, after, shown time.Time, err error) { return began, began, began, gone }); !errors.Is(err, gone) {
		t.Errorf("it answers no more: %v", err)
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
