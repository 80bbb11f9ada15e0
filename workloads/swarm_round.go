package workloads

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// performer is a client of swarm in one round.
type performer struct {
	*client
	choice choice
	key    string
	mode   histories.Mode
	ttl    time.Duration // that it asks for
	alone  bool          // the others have left
}

// round is what a client does: it asks for the lock in one of several ways, stays for a while and does
// something meanwhile, and goes in one of several ways.
func (w swarmLoad) round(ctx context.Context, p *client, key string, alone bool) error {
	r := &performer{client: p, choice: w.choice, key: key, mode: histories.Exclusive, ttl: p.stage.TTL, alone: alone}
	switch {
	case r.choice.counts:
		r.mode = histories.Reentrant
	case r.may(share):
		r.mode = histories.Shared
	}
	if r.may(uneven) {
		r.ttl = whole(r.ttl/4 + r.draw(r.ttl*3/4))
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	if r.Holds() {
		if err := r.stay(ctx); err != nil {
			return err
		}
		if err := r.leave(ctx); err != nil {
			return err
		}
	}
	if r.may(idle) {
		return r.think(ctx, 2*r.stage.TTL)
	}
	return nil
}

// may draws whether an act comes, if the run offers it.
func (p *performer) may(a act) bool { return p.oneIn(2, a) }

// oneIn draws whether an act comes, if the run offers it: once in n times.
func (p *performer) oneIn(n int, a act) bool { return p.choice.has(a) && p.Rand.IntN(n) == 0 }

// ask tries to get the lock. Every try is recorded.
func (p *performer) ask(ctx context.Context) error {
	switch {
	case p.choice.has(queue):
		if p.try(ctx) != nil && !p.stage.Satisfied() {
			_ = p.Await(ctx, p.key, p.ttl)
		}
		return p.stage.Stopped(ctx)
	case p.mode == histories.Exclusive && p.may(wait):
		_ = p.Await(ctx, p.key, p.ttl)
		return p.stage.Stopped(ctx)
	case !p.alone && p.oneIn(4, hurry):
		patience := p.Timeout
		p.Timeout = 100*time.Microsecond + p.draw(5*time.Millisecond)
		_ = p.try(ctx)
		p.Timeout = patience
		return p.stage.Stopped(ctx)
	case p.may(tryOnce):
		_ = p.try(ctx)
		return p.stage.Stopped(ctx)
	case p.oneIn(6, insist):
		return p.until(ctx, p.stage.TTL/2, p.stage.TTL/1000)
	}
	return p.until(ctx, 3*p.stage.TTL, p.stage.TTL/5)
}

func (p *performer) try(ctx context.Context) error { return p.AcquireAs(ctx, p.mode, p.key, p.ttl) }

// until tries until the client has the lock, for a while, and pauses in between.
func (p *performer) until(ctx context.Context, patience, pause time.Duration) error {
	end := p.Now() + patience
	for p.try(ctx) != nil && p.Now() < end && !p.stage.Satisfied() {
		if err := p.stage.Stopped(ctx); err != nil {
			return err
		}
		if err := p.Clock.Sleep(ctx, pause/2+p.draw(max(pause, time.Millisecond))); err != nil {
			return err
		}
	}
	return nil
}

// stay uses the register at the beginning and at the end of a section, and in between does what the run
// offers. A client uses nothing after the end of its lease, nor when it was not told that the lease is extended.
func (p *performer) stay(ctx context.Context) error {
	_ = p.Read(ctx)
	length := p.draw(p.stage.TTL / 50)
	if p.may(long) {
		length = p.stage.TTL/10 + p.draw(p.stage.TTL*29/10)
	}
	sure := true
	for parts := 1 + p.Rand.IntN(3); parts > 0 && sure; parts-- {
		if err := p.think(ctx, 2*length/time.Duration(parts+1)+1); err != nil {
			return err
		}
		if !p.Holds() || p.stage.Satisfied() {
			return nil
		}
		sure = p.act(ctx)
	}
	for p.Depth() > 1 {
		_ = p.Release(ctx)
	}
	if held, _, ok := p.Held(); !sure || !ok || held != p.key || p.Overdue() {
		return nil
	}
	if p.mode == histories.Shared {
		_ = p.Read(ctx)
		return nil
	}
	_ = p.Write(ctx)
	return nil
}

// act does one thing inside a section. It says whether the client may still rely on its lease.
func (p *performer) act(ctx context.Context) bool {
	switch {
	case p.Extends && p.may(extend):
		err := p.Extend(ctx, p.more())
		_, invalid := errors.AsType[*locks.InputError](err)
		return err == nil || invalid
	case p.may(enter):
		_ = p.try(ctx)
		if p.choice.counts {
			_ = p.Count(ctx, p.key)
		}
	case p.may(another):
		_ = p.AcquireAs(ctx, p.mode, p.client.key(), p.ttl)
	}
	return true
}

// more is for how long a client extends its lease.
func (p *performer) more() time.Duration {
	ttl := p.stage.TTL
	if p.choice.even || p.Rand.IntN(2) == 0 {
		return ttl
	}
	if p.Rand.IntN(4) == 0 {
		return 0
	}
	return whole(ttl/10 + p.draw(ttl*2))
}

// whole is a lease of about that length: they are whole milliseconds.
func whole(d time.Duration) time.Duration { return max(d.Truncate(time.Millisecond), time.Millisecond) }

// leave ends a section.
func (p *performer) leave(ctx context.Context) error {
	switch {
	case !p.Holds():
	case p.oneIn(4, abandon) && (!p.choice.hangs || p.hang(ctx)):
		p.Abandon("leaves without a release")
		return p.stage.Stopped(ctx)
	}
	for p.Holds() {
		_ = p.Release(ctx)
	}
	if p.may(again) {
		if err := p.think(ctx, p.stage.TTL/4); err != nil {
			return err
		}
		_ = p.ReleaseAgain(ctx)
	}
	if p.may(back) {
		if err := p.ask(ctx); err != nil {
			return err
		}
		for p.Holds() {
			_ = p.Release(ctx)
		}
	}
	return p.stage.Stopped(ctx)
}

// hang stays in a section for most of what a renewed lease may last, if it is early enough in the run for
// others to get the lock after it. It says whether it did, and still holds.
func (p *performer) hang(ctx context.Context) bool {
	if p.Worker > 0 || p.Now() > p.stage.TTL {
		return false
	}
	return p.Clock.Sleep(ctx, hanging*p.stage.TTL) == nil && p.Holds()
}

// hanging is for how many TTLs a holder hangs in its section before it leaves it.
const hanging = 9
