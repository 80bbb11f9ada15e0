package oracle

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A generator makes small histories of one key.
type generator struct {
	rng    *rand.Rand
	mode   histories.Mode // of all acquires, or of each at random
	mixed  bool           // readers and writers
	tokens bool
	told   bool
	fault  fault
	plan   []planned
}

// A planned call takes effect at an instant. It may have no effect, or be left without an answer.
type planned struct {
	call
	at   time.Duration
	lost bool
}

// generate returns a history from a seed, and whether it is one of a sound lock. Others are of
// a lock with one fault, or damaged.
func generate(seed, n uint64) (h history, isSound bool) {
	g := &generator{rng: rand.New(rand.NewPCG(seed, n))}
	switch g.rng.IntN(10) {
	case 0, 1, 2:
		g.mode = histories.Reentrant
	case 3, 4:
		g.mixed = true
	}
	g.tokens = !g.mixed && g.rng.IntN(3) == 0
	g.told = g.rng.IntN(4) == 0
	if g.rng.IntN(3) == 0 {
		g.fault = fault(1 + g.rng.IntN(int(faults)-1))
	}
	most := 4 + g.rng.IntN(5)
	for {
		g.plan = g.plan[:0]
		for who := range 2 + g.rng.IntN(2) {
			g.client(who, 1+most/2)
		}
		slices.SortFunc(g.plan, func(a, b planned) int { return cmp.Compare(a.at, b.at) })
		g.crop(most)
		if h = g.play(); len(h) >= 2 {
			break
		}
	}
	if g.rng.IntN(3) > 0 {
		return h, g.fault == sound
	}
	for range 1 + g.rng.IntN(2) {
		h = damage(g.rng, h)
	}
	return h, false
}

// span is a time from one to some thousand milliseconds, odd enough that two sums are seldom equal.
func (g *generator) span() time.Duration {
	odd := time.Duration(g.rng.IntN(100)) * unit
	switch g.rng.IntN(6) {
	case 0:
		return time.Duration(50+g.rng.IntN(400))*time.Millisecond + odd
	case 1:
		return time.Duration(500+g.rng.IntN(3000))*time.Millisecond + odd
	}
	return time.Duration(1+g.rng.IntN(20))*time.Millisecond + odd
}

func (g *generator) lease() time.Duration {
	if g.rng.IntN(30) == 0 {
		return 0
	}
	return [...]time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, time.Second, 10 * time.Second}[g.rng.IntN(5)]
}

// client plans what a client does. A call may begin before the last one has returned.
func (g *generator) client(who, calls int) {
	now := g.span()
	attempt := 0
	var last call
	for i := 0; i < calls; i++ {
		c := call{who: who, mode: g.mode, f: histories.Acquire}
		again := g.mode == histories.Reentrant && g.rng.IntN(3) == 0
		if attempt > 0 && !again {
			c.f = [...]histories.F{histories.Release, histories.Release, histories.Release, histories.Extend, histories.Extend, histories.Acquire}[g.rng.IntN(6)]
		}
		if g.mode == histories.Reentrant && attempt > 0 && g.rng.IntN(5) == 0 {
			c.f = histories.Count
		}
		if g.rng.IntN(40) == 0 {
			g.plan = append(g.plan, planned{call: call{who: who, f: histories.Crash, inv: now}, at: now})
		}
		switch c.f {
		case histories.Acquire:
			attempt++
			c.attempt, c.ttl = attempt, g.lease()
			if g.mixed && g.rng.IntN(3) > 0 {
				c.mode = histories.Shared
			}
			last = c
		case histories.Release, histories.Extend:
			c.mode, c.attempt, c.ttl = last.mode, last.attempt, last.ttl
			if g.mode == histories.Reentrant {
				c.attempt = 1 + g.rng.IntN(attempt)
			}
			if c.f == histories.Extend && g.rng.IntN(2) == 0 {
				c.ttl = cmp.Or(g.lease(), last.ttl)
			}
		}
		p := planned{call: c}
		p.inv = now
		p.at = p.inv + g.span()
		p.ret = p.at + g.span()
		if g.rng.IntN(7) == 0 {
			p.outcome, p.lost = histories.Info, true
			switch g.rng.IntN(3) {
			case 0:
				p.at, p.ret = p.ret, p.at // arrives when the client has given up
			case 1:
				p.at = -1 // never arrives
			}
		}
		g.plan = append(g.plan, p)
		now = p.ret + g.span()
		if g.rng.IntN(8) == 0 && c.f != histories.Acquire {
			now = p.inv + g.span()
		}
	}
}

// crop leaves the first calls, and of these the ones whose acquire is among them.
func (g *generator) crop(most int) {
	g.plan = g.plan[:min(len(g.plan), most)]
	acquired := map[[2]int]bool{}
	for _, p := range g.plan {
		acquired[[2]int{p.who, p.attempt}] = acquired[[2]int{p.who, p.attempt}] || p.f == histories.Acquire
	}
	g.plan = slices.DeleteFunc(g.plan, func(p planned) bool { return p.attempt > 0 && !acquired[[2]int{p.who, p.attempt}] })
}

// play has a server answer what was planned.
func (g *generator) play() history {
	v := &server{fault: g.fault, rng: g.rng}
	refused := map[[2]int]bool{}
	var h history
	for _, p := range g.plan {
		c := p.call
		if c.f != histories.Acquire && refused[[2]int{c.who, c.attempt}] && g.rng.IntN(10) > 0 {
			continue
		}
		if p.at >= 0 && c.f != histories.Crash {
			v.now = p.at
			answer := v.answer(&c)
			if !p.lost {
				c.outcome = answer
			}
		}
		if c.f == histories.Acquire && c.outcome == histories.Fail {
			refused[[2]int{c.who, c.attempt}] = true
		}
		if !g.tokens || c.outcome != histories.OK {
			c.token = 0
		}
		if g.told && c.outcome == histories.OK && c.ttl > 0 && (c.f == histories.Acquire || c.f == histories.Extend) {
			c.told = c.inv + c.ttl
		}
		h = append(h, c)
	}
	slices.SortStableFunc(h, func(a, b call) int { return cmp.Compare(a.inv, b.inv) })
	return h
}

// damage changes one thing in a history.
func damage(rng *rand.Rand, h history) history {
	h = slices.Clone(h)
	i := rng.IntN(len(h))
	c := &h[i]
	switch rng.IntN(8) {
	case 0, 1, 2: // another answer
		switch {
		case c.f == histories.Count:
			c.count = rng.IntN(3)
		case c.outcome == histories.OK:
			c.outcome, c.token, c.told = histories.Fail, 0, 0
		case c.f != histories.Crash:
			c.outcome = histories.OK
		}
	case 3: // another time
		shift := time.Duration(rng.IntN(4000)-2000) * time.Millisecond
		if c.f == histories.Acquire {
			break
		}
		for j := range h {
			if h[j].f == histories.Acquire && h[j].who == c.who && h[j].attempt == c.attempt {
				shift = max(shift, h[j].inv-c.inv+time.Millisecond)
			}
		}
		c.inv += shift
		c.ret += shift
	case 4: // another lease
		c.ttl = [...]time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second}[rng.IntN(3)]
	case 5: // a call less
		if c.f != histories.Acquire {
			return slices.Delete(h, i, i+1)
		}
	case 6: // an answer less
		if c.f != histories.Crash && c.f != histories.Count {
			c.outcome, c.token, c.told = histories.Info, 0, 0
		}
	case 7: // another token, or another answer
		if c.token > 0 {
			c.token = int64(1 + rng.IntN(3))
		} else if c.outcome == histories.Fail && c.f == histories.Acquire {
			c.outcome = histories.OK
		}
	}
	return h
}
