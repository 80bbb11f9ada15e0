package report

import (
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// legend says what the picture is made of.
func (d *drawing) legend(more int) {
	var parts []string
	if d.used[held] || d.used[lapsed] {
		parts = append(parts, string(held)+" believes that it holds "+d.key())
	}
	if d.used[lapsed] {
		parts = append(parts, string(lapsed)+" though its lease is over")
	}
	calls := string(opens) + string(closes) + " acquire, release"
	if d.used[refused] {
		calls += ", " + string(refused) + " refused"
	}
	if d.used[unknown] {
		calls += ", ? outcome unknown"
	}
	parts = append(parts, calls)
	var inside []string
	for _, f := range []histories.F{histories.Read, histories.Write, histories.Incr, histories.Draw, histories.Extend, histories.Verify, histories.Count} {
		if r, word := letter(f); d.calls[f] {
			inside = append(inside, string(r)+" "+word)
		}
	}
	if len(inside) > 0 {
		parts = append(parts, strings.Join(inside, ", "))
	}
	if d.used[crashed] {
		parts = append(parts, string(crashed)+" crash")
	}
	if d.hid > 0 {
		parts = append(parts, words.Count(d.hid, "fault")+" more")
	}
	if more > 0 {
		parts = append(parts, "and others")
	}
	parts = append(parts, "time is not to scale")
	d.p.para("  ", strings.Join(parts, " · "), d.p.dim)
}

// sign is a cell as the style draws it.

// key names what is held.
func (d *drawing) key() string {
	keys := map[string]bool{}
	for _, e := range d.events {
		if e.Key != "" {
			keys[e.Key] = true
		}
	}
	if len(keys) != 1 {
		return "the lock"
	}
	for k := range keys {
		return brief(k, 40)
	}
	return ""
}
