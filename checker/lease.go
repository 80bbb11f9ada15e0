package checker

import (
	"time"

	"github.com/lockbench/lockbench/histories"
)

// certain is the end of a lease that began at from or later, on a server whose clock runs
// fast by no more than the drift that Redlock allows for. A TTL of 0 or less and a deadline
// of 0 are none.
func certain(from, ttl, deadline time.Duration) time.Duration {
	end := forever
	if sure := ttl - ttl/100 - 2*time.Millisecond; ttl > 0 && from <= forever-max(sure, 0) {
		end = from + sure
	}
	if deadline > 0 {
		end = min(end, deadline)
	}
	return end
}

// acquired is the place among the extends of a hold that stands for its acquire.
const acquired = -1

// sureTTL is the TTL that the server certainly gave to the lease of h that its i-th accepted
// extend, or its acquire, was granted. Another extend may have come to the server after that
// one, and have asked for less: one that was accepted at the same time, or one of unknown
// outcome that was invoked before.
func sureTTL(h *histories.Hold, i int) time.Duration {
	ttl, returned := h.TTL, h.Returned
	if i != acquired {
		x := h.Extends[i]
		ttl, returned = asked(h, x), x.Returned
		for j := i - 1; j >= 0 && h.Extends[j].Returned.Event > x.Invoked.Event; j-- {
			ttl = shorter(ttl, asked(h, h.Extends[j]))
		}
	}
	for _, x := range h.Unknown {
		if x.Invoked.Event > returned.Event {
			break
		}
		ttl = shorter(ttl, asked(h, x))
	}
	return ttl
}

// curtailed is the earliest end that extends of unknown outcome, invoked between from and to,
// can have given to the lease of h; forever if there are none.
func curtailed(h *histories.Hold, from, to histories.Instant) time.Duration {
	end := forever
	for _, x := range h.Unknown {
		if from.Event < x.Invoked.Event && x.Invoked.Event < to.Event {
			end = min(end, certain(x.Invoked.Time, asked(h, x), 0))
		}
	}
	return end
}

// asked is the TTL that an extend of h asked for. One that is not recorded is the acquire's.
func asked(h *histories.Hold, x histories.Extension) time.Duration {
	if x.TTL == 0 {
		return h.TTL
	}
	return x.TTL
}

// shorter is the shorter of two TTLs, of which 0 or less is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || 0 < b && b < a {
		return b
	}
	return a
}
