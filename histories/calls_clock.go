package histories

import (
	"strconv"
	"time"
)

// A foreignClock is what the times of calls are on: a calendar, or numbers since some instant.
// Both cannot be set against each other.
type foreignClock struct {
	stamped, counted bool // by a calendar, by numbers; neither before the first time
	earliest, latest int64
}

// times sets when a call began and ended.
func (c *foreignClock) times(call *foreignCall, from, to string) error {
	var err error
	if call.from, err = c.instant("from", from); err != nil || call.open {
		return err
	}
	if call.to, err = c.instant("to", to); err != nil {
		return err
	}
	if call.to < call.from {
		return badField("to", "is %s before \"from\", want the end of the call", time.Duration(call.from-call.to))
	}
	return nil
}

func (c *foreignClock) instant(field, text string) (int64, error) {
	first := !c.stamped && !c.counted
	var at int64
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		if at = t.UnixNano(); !time.Unix(0, at).Equal(t) {
			return 0, badField(field, "is %q, want a year from 1678 to 2261", text)
		}
		c.stamped = true
	} else {
		d, err := span(text)
		if err != nil {
			return 0, badField(field, "is %q, want a time such as 2026-01-31T12:00:00.123456Z, nanoseconds, or a duration such as 1.5s", abbreviate([]byte(text)))
		}
		at, c.counted = int64(d), true
	}
	if c.stamped && c.counted {
		return 0, badField(field, "is %q, and others are of another kind; want all times with a date, or none", abbreviate([]byte(text)))
	}
	if first {
		c.earliest, c.latest = at, at
	}
	c.earliest, c.latest = min(c.earliest, at), max(c.latest, at)
	if c.latest-c.earliest < 0 {
		return 0, badField(field, "is %q, too far from other times, want all within 292 years", text)
	}
	return at, nil
}

// span reads a duration: nanoseconds, or a number with its unit.
func span(text string) (time.Duration, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(n), nil
	}
	return time.ParseDuration(text)
}
