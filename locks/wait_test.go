package locks_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/locks"
)

// notifier is a lock that all can wait for.
const notifier = "redisson-style"

// strategies are the three ways to wait, as the client with clock c would.
func strategies(c locks.Clock) map[string]locks.Waiting {
	return map[string]locks.Waiting{
		"spin": locks.Spin{},
		"interval": locks.Interval{
			Every: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Rand: rand.New(rand.NewPCG(1, 1)), Clock: c,
		},
		"pub/sub": locks.PubSub{Clock: c},
	}
}

// waiting is a stage with one holder and one who waits.
type waiting struct {
	*world
	*testing.T
	held   locks.Lease
	waiter locks.Locker
	clock  locks.Clock   // the waiter's
	sent   *atomic.Int64 // commands of the waiter
}

// eachStrategy runs check in virtual time: the lock is held for ttl, and a second client
// is to wait for it.
func eachStrategy(t *testing.T, ttl time.Duration, check func(*waiting, locks.Waiting)) {
	spec, err := libraries.Catalogue().Find(notifier)
	if err != nil {
		t.Fatal(err)
	}
	for name := range strategies(clock{}) {
		t.Run(name, func(t *testing.T) {
			err := onEmbedded(spec, func(w *world) {
				holder, env := w.Env("holder"), w.Env("waiter")
				first, second := spec.New(holder), spec.New(env)
				defer closeLock(t, first)
				defer closeLock(t, second)
				held, err := first.Acquire(context.Background(), w.Key(), ttl)
				if err != nil {
					t.Error(err)
					return
				}
				s := &waiting{world: w, T: t, held: held, waiter: second, clock: env.Clock, sent: new(atomic.Int64)}
				w.Cluster.Link(w.Host("waiter"), w.Masters[0]).Observe(func(e wire.Event) {
					if e.Kind == wire.Sent {
						s.sent.Add(1)
					}
				})
				check(s, strategies(env.Clock)[name])
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// wait waits for the lock in a goroutine of its own, and returns what it got.
func (s *waiting) wait(ctx context.Context, w locks.Waiting) <-chan waited {
	result := make(chan waited, 1)
	go func() {
		lease, err := locks.AcquireWait(ctx, s.waiter, s.Key(), time.Minute, w)
		result <- waited{lease, err, s.clock.Now()}
	}()
	return result
}

type waited struct {
	lease locks.Lease
	err   error
	at    time.Time
}

func TestAcquireWaitGetsTheLockAfterItsRelease(t *testing.T) {
	eachStrategy(t, time.Minute, func(s *waiting, w locks.Waiting) {
		result := s.wait(context.Background(), w)
		s.Sleep(500 * time.Millisecond)
		if len(result) > 0 {
			s.Error("the wait ended while the lock was held")
		}
		if err := s.held.Release(context.Background()); err != nil {
			s.Error(err)
		}
		released := s.clock.Now()
		got := <-result
		if got.err != nil {
			s.Error(got.err)
			return
		}
		// An interval and its jitter, and messages that take half a millisecond.
		if late := got.at.Sub(released); late > 35*time.Millisecond {
			s.Errorf("got the lock %v after its release", late)
		}
		if err := got.lease.Release(context.Background()); err != nil {
			s.Error(err)
		}
	})
}

func TestAcquireWaitGetsAFreeLockAtOnce(t *testing.T) {
	eachStrategy(t, time.Minute, func(s *waiting, w locks.Waiting) {
		if err := s.held.Release(context.Background()); err != nil {
			s.Error(err)
		}
		got := <-s.wait(context.Background(), w)
		if got.err != nil {
			s.Error(got.err)
			return
		}
		if n := s.sent.Load(); n > 3 { // HELLO, EVALSHA, and EVAL if the script is new
			s.Errorf("%d commands were sent for a free lock", n)
		}
		if err := got.lease.Release(context.Background()); err != nil {
			s.Error(err)
		}
	})
}

func TestAcquireWaitIsCancelled(t *testing.T) {
	eachStrategy(t, time.Minute, func(s *waiting, w locks.Waiting) {
		ctx, cancel := context.WithCancelCause(context.Background())
		result := s.wait(ctx, w)
		s.Sleep(50 * time.Millisecond)
		why := errors.New("the user went home")
		cancelled := s.clock.Now()
		cancel(why)
		got := <-result
		if got.lease != nil || !errors.Is(got.err, why) || !errors.Is(got.err, locks.ErrTaken) || locks.Classify(got.err) != locks.Refused {
			s.Errorf("answered %v, %v; want no lease, the cause, and ErrTaken", got.lease, got.err)
		}
		// Spin has a call under way, whose reply it waits for. The others only wait.
		var grace time.Duration
		if w == (locks.Spin{}) {
			grace = time.Millisecond
		}
		if took := got.at.Sub(cancelled); took > grace {
			s.Errorf("ended %v after it was cancelled, want at most %v", took, grace)
		}
		before := s.sent.Load()
		s.Sleep(time.Second)
		if n := s.sent.Load() - before; n > 1 { // UNSUBSCRIBE
			s.Errorf("%d commands were sent after the end", n)
		}
	})
}

func TestAcquireWaitMeetsADeadline(t *testing.T) {
	eachStrategy(t, time.Minute, func(s *waiting, w locks.Waiting) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		got := <-s.wait(ctx, w)
		// Spin may have a call under way, which then ends as every call does.
		var late interface{ Timeout() bool }
		if got.lease != nil || !errors.As(got.err, &late) || !late.Timeout() {
			s.Errorf("answered %v, %v; want no lease and a time-out", got.lease, got.err)
		}
	})
}

// What is not known to be a refusal must not be tried again behind the caller's back.
func TestAcquireWaitReturnsIndefiniteErrors(t *testing.T) {
	eachStrategy(t, time.Minute, func(s *waiting, w locks.Waiting) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		result := s.wait(ctx, w)
		s.Sleep(50 * time.Millisecond)
		s.Cluster.Link(s.Host("waiter"), s.Masters[0]).DropReply(
			wire.Match{Names: []string{"EVALSHA"}}, wire.CloseConn)
		if err := s.held.Release(context.Background()); err != nil {
			s.Error(err)
		}
		got := <-result
		if got.lease != nil || got.err == nil || locks.Classify(got.err) != locks.Indefinite {
			s.Errorf("answered %v, %v; want no lease and an indefinite error", got.lease, got.err)
		}
	})
}

// Waiting costs Redis what the strategy says (P47).
func TestAcquireWaitLoad(t *testing.T) {
	load := map[string]int64{}
	eachStrategy(t, time.Minute, func(s *waiting, w locks.Waiting) {
		ctx, cancel := context.WithCancel(context.Background())
		result := s.wait(ctx, w)
		s.Sleep(100 * time.Millisecond) // for connections and the subscription
		before := s.sent.Load()
		s.Sleep(10 * time.Second)
		load[strings.SplitAfter(s.Name(), "/")[1]] = s.sent.Load() - before
		cancel()
		<-result
	})
	spin, interval, pubsub := load["spin"], load["interval"], load["pub_sub"]
	t.Logf("commands in 10 s of waiting: spin %d, interval %d, pub/sub %d", spin, interval, pubsub)
	// A round trip takes 0.2 to 1 ms and a pause 20 to 30 ms.
	if spin < 10*interval || interval < 300 || interval > 500 || pubsub != 0 {
		t.Errorf("%v; want spin ≫ interval, about 400 of interval, and none of pub/sub", load)
	}
}

// deaf is a Notifier whose messages all get lost.
type deaf struct {
	locks.Notifier
	ended atomic.Int64
}

func (d *deaf) Subscribe(context.Context, string) (<-chan struct{}, func(), error) {
	return make(chan struct{}), func() { d.ended.Add(1) }, nil
}

// A lost message costs what was left of the lease, and no more.
func TestPubSubIsBoundedByTheLease(t *testing.T) {
	spec, err := libraries.Catalogue().Find(notifier)
	if err != nil {
		t.Fatal(err)
	}
	err = onEmbedded(spec, func(w *world) {
		holder, env := w.Env("holder"), w.Env("waiter")
		first, second := spec.New(holder), &deaf{Notifier: spec.New(env).(locks.Notifier)}
		defer closeLock(t, first)
		defer closeLock(t, second.Notifier)
		const ttl = 3 * time.Second
		held, err := first.Acquire(context.Background(), w.Key(), ttl)
		if err != nil {
			t.Error(err)
			return
		}
		result := make(chan error, 1)
		go func() {
			_, err := locks.AcquireWait(context.Background(), second, w.Key(), ttl, locks.PubSub{Clock: env.Clock})
			result <- err
		}()
		w.Sleep(100 * time.Millisecond)
		if err := held.Release(context.Background()); err != nil {
			t.Error(err)
		}
		start := w.Sleeper.Now()
		if err := <-result; err != nil {
			t.Error(err)
		}
		if took := w.Sleeper.Now().Sub(start); took < ttl/2 || took > ttl {
			t.Errorf("it took %v to get a lock whose release was not heard, want most of %v", took, ttl)
		}
		if n := second.ended.Load(); n != 1 {
			t.Errorf("the subscription was ended %d times", n)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// stubborn is a Notifier that refuses in a certain way.
type stubborn struct {
	refusals []error
	told     chan struct{}
	deafness error
}

func (s *stubborn) Acquire(context.Context, string, time.Duration) (locks.Lease, error) {
	if len(s.refusals) == 0 {
		return nothing{}, nil
	}
	err := s.refusals[0]
	s.refusals = s.refusals[1:]
	return nil, err
}

func (s *stubborn) Subscribe(context.Context, string) (<-chan struct{}, func(), error) {
	if s.deafness != nil {
		return nil, nil, s.deafness
	}
	return s.told, func() {}, nil
}

func TestPubSubPauses(t *testing.T) {
	broken := errors.New("connection reset")
	taken := func(d time.Duration) error { return &locks.TakenError{Remaining: d} }
	for _, tt := range []struct {
		name     string
		refusals []error // the first is followed by the subscription, and no pause
		told     time.Duration
		deafness error
		took     time.Duration
		want     error
	}{
		{name: "until the lease ends", refusals: []error{taken(time.Second), taken(time.Second)}, told: time.Hour, took: 1001 * time.Millisecond},
		{name: "until it is told", refusals: []error{taken(time.Second), taken(time.Second)}, told: 300 * time.Millisecond, took: 300 * time.Millisecond},
		{name: "a lease without an end", refusals: []error{taken(-1), taken(-1)}, told: time.Minute, took: time.Minute},
		{name: "a lease about to end", refusals: []error{taken(0), taken(0), taken(0)}, told: time.Hour, took: 2 * time.Millisecond},
		{name: "nobody knows how long", refusals: []error{locks.ErrTaken, locks.ErrTaken}, told: time.Hour, took: 5*time.Second + time.Millisecond},
		{name: "released before the subscription", refusals: []error{taken(time.Second)}, told: time.Hour},
		{name: "no subscription", refusals: []error{taken(time.Second)}, deafness: broken, want: broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stubborn{refusals: tt.refusals, told: make(chan struct{}, 1), deafness: tt.deafness}
				timer := time.AfterFunc(tt.told, func() { s.told <- struct{}{} })
				defer timer.Stop()
				start := time.Now()
				lease, err := locks.AcquireWait(t.Context(), s, "k", 5*time.Second, locks.PubSub{Clock: clock{}})
				if !errors.Is(err, tt.want) || (lease == nil) != (tt.want != nil) {
					t.Errorf("answered %v, %v; want error %v", lease, err, tt.want)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

func TestAcquireWaitRefusesBadOptions(t *testing.T) {
	plain := constructor("setnx-px-lua")(locks.Env{})
	for name, w := range map[string]locks.Waiting{
		"no interval":         locks.Interval{Clock: clock{}},
		"negative jitter":     locks.Interval{Every: time.Second, Jitter: -1, Clock: clock{}},
		"no clock":            locks.Interval{Every: time.Second},
		"no source of jitter": locks.Interval{Every: time.Second, Jitter: 1, Clock: clock{}},
		"no notifier":         locks.PubSub{Clock: clock{}},
	} {
		var input *locks.InputError
		lease, err := locks.AcquireWait(t.Context(), plain, "k", time.Second, w)
		if lease != nil || !errors.As(err, &input) || input.Field != "waiting" {
			t.Errorf("%s: answered %v, %v; want an InputError about waiting", name, lease, err)
		}
	}
}
