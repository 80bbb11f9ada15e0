package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// WallClock is the clock of a server or of a client, which a fault sets wrong.
type WallClock interface {
	// Set makes it differ from the right time by offset, now, and run rate times as fast
	// from now on. Offset 0 and rate 1 make it right.
	Set(ctx context.Context, offset time.Duration, rate float64) error
	// Read asks what it shows.
	Read(ctx context.Context) (time.Time, error)
}

// clockSlack is by how much a clock may miss what it was set to, beyond what nobody can
// know: the time that the question and the answer took.
const clockSlack = 5 * time.Millisecond

// clockReading is one look at a clock.
type clockReading struct {
	at     time.Time     // the right time
	ahead  time.Duration // of the right time
	within time.Duration // how exactly this is known
}

// readClock compares a clock with the right time, before and after.
func readClock(ctx context.Context, c WallClock, now func() time.Time) (clockReading, error) {
	before := now()
	shown, err := c.Read(ctx)
	if err != nil {
		return clockReading{}, fmt.Errorf("read the clock: %w", err)
	}
	half := now().Sub(before) / 2
	at := before.Add(half)
	return clockReading{at: at, ahead: shown.Sub(at), within: half}, nil
}

func (r clockReading) String() string {
	how := "ahead"
	if r.ahead <= -time.Millisecond/2 { // less is shown as 0
		how = "behind"
	}
	s := fmt.Sprintf("%.3fs %s", r.ahead.Abs().Seconds(), how)
	if r.within >= time.Millisecond {
		s += fmt.Sprintf(" (± %.3fs)", r.within.Seconds())
	}
	return s
}

// setRight heals a clock and looks whether it is right.
func setRight(ctx context.Context, c WallClock, now func() time.Time) (clockReading, error) {
	if err := c.Set(ctx, 0, 1); err != nil {
		return clockReading{}, err
	}
	is, err := readClock(ctx, c, now)
	if err == nil && is.ahead.Abs() > is.within+clockSlack {
		err = fmt.Errorf("its clock was set right and is %v", is)
	}
	return is, err
}

// jumpingClock is a clock that jumps once. Healing sets it right.
func jumpingClock(f histories.F, target string, c WallClock, now func() time.Time, by time.Duration) Fault {
	var was, is clockReading
	return Fault{
		F: f, Target: target, Plan: fmt.Sprintf("its clock jumps by %v", by),
		Start: func(ctx context.Context) (_ string, err error) {
			if was, err = readClock(ctx, c, now); err != nil {
				return "", err
			}
			if err := c.Set(ctx, by, 1); err != nil {
				return "", err
			}
			if is, err = readClock(ctx, c, now); err == nil && (is.ahead-by).Abs() > is.within+clockSlack {
				err = fmt.Errorf("its clock was to jump by %v and is %v, was %v", by, is, was)
			}
			if err != nil {
				err = errors.Join(err, c.Set(ctx, 0, 1))
			}
			return "", err
		},
		Stop: func(ctx context.Context) (string, error) {
			healed, err := setRight(ctx, c, now)
			return fmt.Sprintf("its clock was %v, before that %v; set right, %v", is, was, healed), err
		},
	}
}

// runningClock is a clock that runs too fast or too slow. Healing sets it right.
func runningClock(f histories.F, target string, c WallClock, now func() time.Time, rate float64) Fault {
	var began clockReading
	return Fault{
		F: f, Target: target, Plan: fmt.Sprintf("its clock runs %v times as fast as it should", rate),
		Start: func(ctx context.Context) (_ string, err error) {
			if err = c.Set(ctx, 0, rate); err != nil {
				return "", err
			}
			if began, err = readClock(ctx, c, now); err != nil {
				err = errors.Join(err, c.Set(ctx, 0, 1))
			}
			return "", err
		},
		Stop: func(ctx context.Context) (string, error) {
			ended, err := readClock(ctx, c, now)
			if err != nil {
				return "", errors.Join(err, c.Set(ctx, 0, 1))
			}
			healed, err := setRight(ctx, c, now)
			took := ended.at.Sub(began.at)
			gained := ended.ahead - began.ahead
			slack := time.Duration(max(rate, 1)*float64(began.within+ended.within)) + clockSlack
			if want := time.Duration(float64(took) * (rate - 1)); (gained - want).Abs() > slack {
				err = errors.Join(err, fmt.Errorf("it was to gain %v in %v and gained %v", want, took, gained))
			}
			ran := 1.0
			if took > 0 {
				ran += float64(gained) / float64(took)
			}
			return fmt.Sprintf("its clock ran %.3f times as fast for %.3fs, then was %v; set right, %v",
				ran, took.Seconds(), ended, healed), err
		},
	}
}

// drawJump draws a jump by up to two TTLs, forward or back.
func (s Scene) drawJump(r *rand.Rand) time.Duration {
	by := (time.Duration(r.Int64N(int64(4*s.TTL))) - 2*s.TTL).Round(time.Millisecond)
	if by == 0 {
		by = time.Millisecond
	}
	return by
}

// drawRate draws between half and twice the right rate.
func drawRate(r *rand.Rand) float64 {
	if r.IntN(2) == 0 {
		return float64(50+r.IntN(46)) / 100
	}
	return float64(105+r.IntN(96)) / 100
}
