package player

import (
	"errors"
	"slices"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
)

// How steps prove that a client has got a lock that nothing kept from it.

// freely is the error of a step that waits for the command which takes the first key's lock. If it did not
// come although the lock was free, a *MissedError has the key.
func (s *Stage) freely(free bool, err error) error {
	if missed, ok := errors.AsType[*MissedError](err); ok && free {
		missed.Key = s.name()
	}
	return err
}

// granted reports whether an acquire was granted, or was none: one that the lock or a server refused to execute
// says nothing of who has it.
func granted(err error) bool {
	return err == nil || locks.Classify(err) == locks.Refused && !errors.Is(err, locks.ErrTaken)
}

// free reports whether the lock on key is certainly free for c, so that only chance or the lock itself can keep it
// from c: no server that c asks has anything of it, nobody is in a call that could take it, and no fault explains
// a refusal. What nobody can look at is not certain.
func (s *Stage) free(c *Client, key Key) bool {
	if key.Unknown != nil || c.Holds() || s.explains(c) {
		return false
	}
	for o, u := range s.pending {
		// One whose command is held up can take nothing, unless it asks other servers meanwhile.
		if o != c && !u.over() && (s.Shards > 1 || !s.Nemesis.InForce(nemesis.HoldF, o.Name)) {
			return false
		}
	}
	for shard := range s.Shards {
		d := deciding{s.Cluster, c.View.Primary(s.Cluster, shard), key.Kept}
		states := d.look()
		if len(states) == 0 || slices.ContainsFunc(states, func(k cluster.KeyState) bool { return k.Exists }) {
			return false
		}
	}
	return true
}

// over reports whether the call has ended.
func (u *undertaking) over() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// excuses reports whether something explains that c did not get a free lock: a fault, a call that did not return,
// or that replicas were to confirm the lock, because the lock asks for it or because the master does, and
// replication is at fault.
func (s *Stage) excuses(c *Client, confirmed bool) bool {
	if s.explains(c) || s.Hangs.Any() {
		return true
	}
	return (confirmed || s.confirms) && slices.ContainsFunc(s.Nemesis.Active(), func(f nemesis.Fault) bool {
		return f.F == nemesis.CutReplicationF || f.F == nemesis.ReplicationLagF || f.F == nemesis.SplitBrainF
	})
}
