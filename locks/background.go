package locks

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// background runs the goroutines of one lock object. Each has a clock to itself while it
// runs, and clocks are used again: virtual time has only so many slots.
type background struct {
	newClock func() Clock
	limit    int // how many goroutines run at once; the others wait. 0: no limit
	ctx      context.Context
	cancel   context.CancelFunc

	mu      sync.Mutex
	made    int     // clocks
	idle    []Clock // clocks that nobody uses
	waiting []*routine
}

func newBackground(env Env, limit int) *background {
	b := &background{newClock: env.NewClock, limit: limit}
	if b.newClock == nil {
		b.newClock = func() Clock { return env.Clock }
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Close ends all goroutines. One that waits for an answer of Redis ends when that call
// does: at its time-out, or when the client is closed.
func (b *background) Close() error {
	b.cancel()
	return nil
}

// routine is one goroutine.
type routine struct {
	background *background
	run        func(*routine)
	clock      Clock
	ctx        context.Context // ends with stop and with Close
	cancel     context.CancelFunc
	calling    atomic.Bool
	done       chan struct{}
}

// start runs run, or has it wait for its turn. run must return soon after r.ctx has ended,
// and sleep before it acts: whoever started it acts at the same instant.
func (b *background) start(run func(r *routine)) *routine {
	r := &routine{background: b, run: run, done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(b.ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch last := len(b.idle) - 1; {
	case last >= 0:
		r.clock, b.idle = b.idle[last], b.idle[:last]
	case b.limit == 0 || b.made < b.limit:
		r.clock = b.newClock()
		b.made++
	default:
		b.waiting = append(b.waiting, r)
		return r
	}
	go r.main()
	return r
}

func (r *routine) main() {
	defer r.cancel()
	r.run(r)
	b := r.background
	b.mu.Lock()
	if len(b.waiting) > 0 {
		next := b.waiting[0]
		b.waiting = b.waiting[1:]
		next.clock = r.clock
		go next.main()
	} else {
		b.idle = append(b.idle, r.clock)
	}
	b.mu.Unlock()
	close(r.done)
}

// stop ends the goroutine and waits until it has ended, but not for an answer of Redis:
// go-redis does not break off a call.
func (r *routine) stop() {
	r.cancel()
	if r.forget() {
		return
	}
	if !r.calling.Load() {
		<-r.done
	}
}

// forget reports whether the goroutine still waited for its turn, which then never comes.
func (r *routine) forget() bool {
	b := r.background
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range b.waiting {
		if w == r {
			b.waiting = append(b.waiting[:i:i], b.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// sleep returns nil after d, or an error when the goroutine must end.
func (r *routine) sleep(d time.Duration) error { return r.clock.Sleep(r.ctx, max(d, 0)) }

// withTimeout is context.WithTimeout, by the machine's time.
func withTimeout(ctx context.Context, clock Clock, limit time.Duration) (context.Context, context.CancelFunc) {
	// Virtual time wants the time-out to be an instant of the clock's own.
	if own, ok := clock.(interface {
		In(d time.Duration) time.Duration
	}); ok {
		limit = own.In(limit)
	}
	return context.WithTimeout(ctx, limit)
}

// call makes a call to Redis that takes limit at most, by the machine's time.
func (r *routine) call(limit time.Duration, f func(context.Context) error) error {
	// Set before the look at the context, see stop.
	r.calling.Store(true)
	defer r.calling.Store(false)
	ctx, cancel := withTimeout(r.ctx, r.clock, limit)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(ctx)
}
