package harness

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/sim"
)

// closing is how long a lock, or one of its connections, may take to be closed.
const closing = 5 * time.Second

// toldInBubble is what a run in virtual time says of itself when it has come to its end.
type toldInBubble struct {
	notes      []string
	replayable bool
}

// after makes of a bubble's error what it says of the run. One that stood still is no failure
// of the harness, and it does not accuse the lock: there are locks that virtual time cannot
// move and real time can. Goroutines that are left when all is closed harm nobody.
func (t *toldInBubble) after(err error, env environment, meta *histories.Meta) error {
	if stuck, ok := errors.AsType[*sim.StuckError](err); ok { // what t holds is the bubble's still
		env.recorder.StopAt(stuck.At)
		env.recorder.Record(histories.Event{
			Process: histories.Nemesis, Worker: histories.Nemesis, Type: histories.Info, F: histories.Standstill,
			Err: stuck.Error() + "\n" + stuck.Stacks,
		})
		return nil
	}
	if err != nil && env.interrupted() != nil {
		return err
	}
	meta.Notes, meta.Replayable = append(meta.Notes, t.notes...), t.replayable
	left, ok := errors.AsType[*sim.LeftoverError](err)
	if !ok {
		return err
	}
	*env.left = left.Stacks
	meta.Notes = append(meta.Notes, "the lock leaves goroutines behind when it is closed: "+oneLine(left.Stacks))
	return without(err, left)
}

// oneLine joins the lines of stacks.
func oneLine(stacks string) string {
	return strings.ReplaceAll(strings.ReplaceAll(stacks, ":\n  ", " in "), "\n  ", ", called by ")
}

// without is a joined error without one of its parts.
func without(err error, part error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if errors.Is(err, part) {
			return nil
		}
		return err
	}
	var rest []error
	for _, e := range joined.Unwrap() {
		rest = append(rest, without(e, part))
	}
	return errors.Join(rest...)
}

// closeSoon closes what belongs to a member. That it does not end is a finding about the lock.
func (m *member) closeSoon(c io.Closer) error {
	err := player.Within("close", closing, m.Patience, c.Close)
	if hung, ok := errors.AsType[*player.HungError](err); ok {
		m.Hung(hung)
		return nil
	}
	return err
}
