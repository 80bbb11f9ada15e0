package oracle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A call is one call of a history of one key, or a crash.
type call struct {
	who     int // worker
	f       histories.F
	attempt int // the number of its acquire, counted from 1 by worker
	mode    histories.Mode
	ttl     time.Duration // of an acquire or an extend; 0: without an end
	inv     time.Duration // when it was invoked
	ret     time.Duration // when it returned, if it did
	open    bool          // it never returned
	outcome histories.Type
	token   int64         // of an acquire that is ok; 0: none
	told    time.Duration // deadline that an acquire or an extend that is ok told; 0: none
	count   int           // what a count answered
	version int64         // of a read or a write of the resource
}

// unknown reports whether nobody knows whether c took effect.
func (c call) unknown() bool { return c.outcome == histories.Info }

// A history is calls in any order.
type history []call

// verbs are the calls of the compact form.
func verbs() map[string]histories.F {
	return map[string]histories.F{
		"acq": histories.Acquire, "rel": histories.Release, "ext": histories.Extend, "count": histories.Count,
		"crash": histories.Crash, "read": histories.Read, "write": histories.Write,
	}
}

// parse reads the compact form of a history, calls parted by " · ", times in milliseconds:
//
//	A acq 0-1 ok 10s            worker A's acquire, invoked at 0, returned at 1; it asked for 10 s
//	A acq#2 0-1 refused read    its second acquire, a reader's; "reenter" is a re-entrant client's
//	A acq 0-1 ok token 5        a fencing token, and no TTL
//	A acq 0-1 ok 1s until 900   the lock told that the lease ends at 900
//	A ext(300ms) 10- info       an extend that never returned; without "(…)" it asks for the acquire's TTL
//	A rel#1 20-30 ok            a release of the first acquire; without "#1" of the last one above it
//	A count 40 = 2              a call without an end takes 1 ms
//	A read 50 ok v3             of the resource; "write … v3" replaces version 3
//	A crash 60
func parse(text string) (history, error) {
	var h history
	for _, part := range strings.Split(text, "·") {
		c, err := h.call(strings.Fields(part))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", strings.TrimSpace(part), err)
		}
		h = append(h, c)
	}
	return h, nil
}

func (h history) call(f []string) (call, error) {
	if len(f) < 3 {
		return call{}, fmt.Errorf("found %d words, want who, what and when", len(f))
	}
	c := call{who: int(f[0][0] - 'A'), attempt: 1}
	verb, ttl, _ := strings.Cut(f[1], "(")
	verb, number, numbered := strings.Cut(verb, "#")
	c.f = verbs()[verb]
	of, acquired := h.acquire(c.who, number)
	if acquired && c.f != histories.Acquire {
		c.attempt, c.ttl, c.mode = of.attempt, of.ttl, of.mode
	}
	var err error
	switch {
	case c.f == "":
		return c, fmt.Errorf("%q is no call", verb)
	case numbered:
		c.attempt, err = strconv.Atoi(number)
	case acquired && c.f == histories.Acquire:
		c.attempt = of.attempt + 1
	}
	if err == nil && ttl != "" {
		c.ttl, err = time.ParseDuration(strings.TrimSuffix(ttl, ")"))
	}
	if err == nil {
		err = c.times(f[2])
	}
	if err == nil && c.f != histories.Crash {
		err = c.answer(f[3:])
	}
	return c, err
}

// acquire is the last acquire of a worker, or the one of a number.
func (h history) acquire(who int, number string) (call, bool) {
	for _, c := range slices.Backward(h) {
		if c.who == who && c.f == histories.Acquire && (number == "" || strconv.Itoa(c.attempt) == number) {
			return c, true
		}
	}
	return call{}, false
}

func (c *call) times(text string) error {
	from, to, span := strings.Cut(text, "-")
	inv, err := strconv.ParseFloat(from, 64)
	if err != nil {
		return err
	}
	ret := inv + 1
	c.open = span && to == ""
	if span && !c.open {
		if ret, err = strconv.ParseFloat(to, 64); err != nil {
			return err
		}
	}
	c.inv, c.ret = milliseconds(inv), milliseconds(ret)
	return nil
}

func milliseconds(n float64) time.Duration {
	return time.Duration(math.Round(n * float64(time.Millisecond)))
}

func (c *call) answer(f []string) error {
	for i := 0; i < len(f); i++ {
		var err error
		next := func() (n float64) {
			if i++; i >= len(f) {
				err = fmt.Errorf("%q wants a number", f[i-1])
				return 0
			}
			n, err = strconv.ParseFloat(f[i], 64)
			return n
		}
		switch word := f[i]; {
		case word == "ok":
			c.outcome = histories.OK
		case word == "refused":
			c.outcome = histories.Fail
		case word == "info":
			c.outcome = histories.Info
		case word == "=":
			c.outcome, c.count = histories.OK, int(next())
		case word == "token":
			c.token = int64(next())
		case word == "until":
			c.told = milliseconds(next())
		case word == "read":
			c.mode = histories.Shared
		case word == "reenter":
			c.mode = histories.Reentrant
		case strings.HasPrefix(word, "v"):
			c.version, err = strconv.ParseInt(word[1:], 10, 64)
		default:
			c.ttl, err = time.ParseDuration(word)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// String writes the form that parse reads.
func (h history) String() string {
	parts := make([]string, len(h))
	for i, c := range h {
		parts[i] = c.String()
	}
	return strings.Join(parts, " · ")
}

func (c call) String() string {
	var b strings.Builder
	names := verbs()
	for verb, f := range names {
		if f == c.f {
			fmt.Fprintf(&b, "%c %s", 'A'+rune(c.who), verb)
		}
	}
	if c.f == histories.Crash {
		fmt.Fprintf(&b, " %v", ms(c.inv))
		return b.String()
	}
	if c.f != histories.Count {
		fmt.Fprintf(&b, "#%d", c.attempt)
	}
	if c.f == histories.Extend {
		fmt.Fprintf(&b, "(%v)", c.ttl)
	}
	fmt.Fprintf(&b, " %v-", ms(c.inv))
	if !c.open {
		fmt.Fprintf(&b, "%v", ms(c.ret))
	}
	switch {
	case c.f == histories.Count && c.outcome == histories.OK:
		fmt.Fprintf(&b, " = %d", c.count)
	case c.outcome == histories.Fail:
		b.WriteString(" refused")
	default:
		b.WriteString(" " + c.outcome.String())
	}
	if c.f == histories.Acquire {
		c.terms(&b)
	}
	if c.f == histories.Read || c.f == histories.Write {
		fmt.Fprintf(&b, " v%d", c.version)
	}
	if c.told != 0 {
		fmt.Fprintf(&b, " until %v", ms(c.told))
	}
	return b.String()
}

// terms writes what an acquire asked for and what it was given.
func (c call) terms(b *strings.Builder) {
	if c.ttl != 0 {
		fmt.Fprintf(b, " %v", c.ttl)
	}
	if c.mode != histories.Exclusive {
		fmt.Fprintf(b, " %s", c.mode)
	}
	if c.token != 0 {
		fmt.Fprintf(b, " token %d", c.token)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// number is the attempt of a call as events have it, unique in the history.
func (c call) number() uint64 { return uint64(c.who*100 + c.attempt) }

const key = "k"

// events returns h as it would have been recorded. A worker makes calls that overlap under
// several processes, and goes on under a new one after a call of unknown outcome or a crash.
// Of equal times the earlier call comes first.
func (h history) events() []histories.Event {
	var events []histories.Event
	byStart := slices.Clone(h)
	slices.SortStableFunc(byStart, func(a, b call) int { return cmp.Compare(a.inv, b.inv) })
	const never = time.Duration(1<<63 - 1)
	until := map[int]time.Duration{} // when a process can make its next call
	for _, c := range byStart {
		e := histories.Event{Worker: c.who, Process: c.who, F: c.f, Time: c.inv}
		for until[e.Process] > max(0, c.inv) {
			e.Process += 100
		}
		if c.f == histories.Crash {
			for p := c.who; p <= e.Process; p += 100 {
				until[p] = never
			}
			events = append(events, e)
			continue
		}
		until[e.Process] = c.ret
		if c.unknown() || c.open {
			until[e.Process] = never
		}
		e.Key = key
		if c.f != histories.Count {
			e.Attempt = c.number()
		}
		events = append(events, c.invoked(e))
		if !c.open {
			events = append(events, c.returned(e))
		}
	}
	slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}

func (c call) invoked(e histories.Event) histories.Event {
	e.Type = histories.Invoke
	if c.f == histories.Acquire || c.f == histories.Extend {
		e.TTL = c.ttl
	}
	if c.f == histories.Acquire {
		e.Value = string(c.mode)
	}
	return e
}

func (c call) returned(e histories.Event) histories.Event {
	e.Type, e.Time = c.outcome, c.ret
	if c.outcome != histories.OK {
		return e
	}
	e.Token, e.Deadline, e.Version = c.token, c.told, c.version
	if c.f == histories.Count {
		e.Value = strconv.Itoa(c.count)
	}
	return e
}
