package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span is a length of time: a number of TTLs, and a fixed time more, and the slack.
type Span struct {
	TTLs  float64
	More  time.Duration
	Slack bool // how much longer than its TTL a free lock may stay taken
}

// Of returns how long the span is, to the millisecond.
func (p Span) Of(ttl, slack time.Duration) time.Duration {
	d := time.Duration(p.TTLs*float64(ttl)).Round(time.Millisecond) + p.More
	if p.Slack {
		d += slack
	}
	return d
}

// String returns the span as it is written: 0.4T, T+500ms, 5ms, T+slack.
func (p Span) String() string {
	var parts []string
	switch {
	case p.TTLs == 1:
		parts = append(parts, "T")
	case p.TTLs == -1:
		parts = append(parts, "-T")
	case p.TTLs != 0 || p.More == 0 && !p.Slack:
		parts = append(parts, strconv.FormatFloat(p.TTLs, 'f', -1, 64)+"T")
	}
	if p.More != 0 {
		parts = append(parts, p.More.String())
	}
	if p.Slack {
		parts = append(parts, "slack")
	}
	return strings.Join(parts, "+")
}

// parseSpan reads what String writes.
func parseSpan(text string) (Span, error) {
	var p Span
	wrong := fmt.Errorf("%q is no length of time: want TTLs, or a time, or both, such as 0.4T, 5ms, T+500ms, T+slack", text)
	for i, part := range strings.Split(text, "+") {
		ttls, isTTLs := strings.CutSuffix(part, "T")
		switch {
		case part == "slack" && !p.Slack:
			p.Slack = true
		case isTTLs && i == 0:
			switch ttls {
			case "":
				p.TTLs = 1
			case "-":
				p.TTLs = -1
			default:
				n, err := strconv.ParseFloat(ttls, 64)
				if err != nil || !(n >= -maxTTLs && n <= maxTTLs) { // NaN too
					return Span{}, wrong
				}
				p.TTLs = n
			}
		case p.More == 0 && !p.Slack:
			d, err := time.ParseDuration(part)
			if err != nil || i > 0 && d <= 0 {
				return Span{}, wrong
			}
			p.More = d
		default:
			return Span{}, wrong
		}
	}
	return p, nil
}

// maxTTLs bounds what can be waited for.
const maxTTLs = 10_000
