package checker

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/words"
)

// tell says of an operation which events it is.
func (d drawing) tell(s *section, end bool) string {
	who, key := histories.WorkerName(s.hold.Worker), inert(s.hold.Key)
	switch {
	case !end && s.late():
		return fmt.Sprintf("%s acquires %s, event %d. It was granted by event %d, when its hold was over.", who, key, s.call/2, s.grant)
	case !end && s.surfaced:
		return fmt.Sprintf("%s acquires %s, event %d. Its outcome was unknown until its release answered OK, event %d.", who, key, s.call/2, s.grant)
	case !end && s.extended:
		return fmt.Sprintf("%s extends its lease of %s, granted by event %d at %s.", who, key, s.grant, d.when(s.grant))
	case !end:
		return fmt.Sprintf("%s acquires %s, granted by event %d at %s.", who, key, s.grant, d.when(s.grant))
	case s.ended == deadline:
		return fmt.Sprintf("The deadline that the lock told %s for %s: %s.", who, key, words.Seconds(s.until))
	case s.ended == expired:
		return fmt.Sprintf("The lease of %s that %s asked for is over: %s.", key, who, words.Seconds(s.until))
	}
	return fmt.Sprintf("%s: %s of %s, event %d at %s.", who, s.ended, key, s.end/2, d.when(int(s.end/2)))
}

// describe is an operation in the words of its box.
func describe(sections []section, op step) string {
	s := &sections[op.section]
	who := histories.WorkerName(s.hold.Worker)
	switch {
	case !op.end && s.extended:
		return who + " extends"
	case !op.end && s.hold.Mode == histories.Shared:
		return who + " acquires for reading"
	case !op.end:
		return who + " acquires"
	case s.ended == deadline || s.ended == expired:
		return who + "'s lease ends"
	case s.ended == histories.Release:
		return who + " releases"
	}
	return fmt.Sprintf("%s: %s", who, s.ended)
}

// describeState is a state of mutex or parties in words.
func describeState(sections []section, state any) string {
	var names []string
	switch held := state.(type) {
	case int32:
		if held != nobody {
			names = append(names, histories.WorkerName(sections[held].hold.Worker))
		}
	case holders:
		for id := []byte(held.sections); len(id) >= 8; id = id[8:] {
			names = append(names, histories.WorkerName(sections[binary.BigEndian.Uint64(id)].hold.Worker))
		}
	}
	if len(names) == 0 {
		return "free"
	}
	return "held by " + strings.Join(names, ", ")
}

// inert makes a name from outside fit for a drawing that puts what it is told into HTML: no
// character of it means anything there, or to a reader's eye what it is not. Long names are cut.
func inert(name string) string {
	const longest = 60
	var b strings.Builder
	n := 0
	for _, r := range name {
		if n++; n > longest {
			b.WriteString("…")
			break
		}
		if strings.ContainsRune("<>&\"'`\\", r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
