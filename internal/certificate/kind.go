package certificate

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
)

// A kind is what a call does, in one byte: a history has many calls, and what has no pointers costs the
// garbage collector nothing.
type kind uint8

// The kinds of calls that some rule asks for, and of what ends attempts without a call.
const (
	unknown kind = iota
	acquire
	release
	extend
	read
	write
	incr
	draw
	count
	ask
	lost
	abandon
	crash
)

// kinds are the names of the kinds in histories.
func kinds() [crash + 1]histories.F {
	return [...]histories.F{
		"", histories.Acquire, histories.Release, histories.Extend, histories.Read, histories.Write, histories.Incr, histories.Draw,
		histories.Count, histories.Verify, histories.Lost, histories.Abandon, histories.Crash,
	}
}

func kindOf(f histories.F) kind {
	all := kinds()
	return kind(max(0, slices.Index(all[:], f)))
}

func (k kind) String() string { return string(kinds()[k]) }

// sharing is with whom an acquire may share its key.
type sharing uint8

const (
	withNobody sharing = iota
	withReaders
	withItself // other acquires of its client
)

func sharingOf(m histories.Mode) sharing {
	switch m {
	case histories.Shared:
		return withReaders
	case histories.Reentrant:
		return withItself
	}
	return withNobody
}

// modes are the modes of acquires, by whom they share with.
func modes() [withItself + 1]histories.Mode {
	return [...]histories.Mode{histories.Exclusive, histories.Shared, histories.Reentrant}
}
