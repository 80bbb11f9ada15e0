package workloads

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// How steps prove that a client has got a lock that nothing kept from it.

// acquiring is a step in which a client makes one call to get the lock on the n-th key, from 1 on. That it
// does not get one that was certainly free is a *MissedError: what comes after it counts on a holder that there
// is none of. Whether the lock had to grant it is for the judges to say, whose verdicts of failure stand.
func acquiring(text, name string, n int, try func(context.Context, *Stage, *Client) error) Step {
	return Step{text, func(ctx context.Context, s *Stage) error {
		c, err := s.client(name)
		if err != nil {
			return err
		}
		key, err := s.key(n)
		if err != nil {
			return err
		}
		if err := s.finish(ctx, c); err != nil {
			return err
		}
		free := s.free(c, key)
		confirmed, stop := s.heed(c, wire.Match{Names: []string{"WAIT", "WAITAOF"}})
		defer stop()
		if err := s.begin(ctx, c, func(ctx context.Context) error {
			err := try(ctx, s, c)
			if free && !granted(err) && !s.excuses(c, confirmed()) {
				return &MissedError{Why: fmt.Sprintf("%s was not given a lock that was free: %v", c.Name, err), Key: key.Name}
			}
			return err
		}); err != nil {
			return err
		}
		return s.finish(ctx, c)
	}}
}

// freely is the error of a step that waits for the command which takes the first key's lock. If it did not
// come although the lock was free, a *MissedError has the key.
func (s *Stage) freely(free bool, err error) error {
	if missed, ok := errors.AsType[*MissedError](err); ok && free {
		missed.Key = s.name()
	}
	return err
}

// granted says whether an acquire was granted, or was none: one that the lock or a server refused to execute
// says nothing of who has it.
func granted(err error) bool {
	return err == nil || locks.Classify(err) == locks.Refused && !errors.Is(err, locks.ErrTaken)
}

// free says whether the lock on key is certainly free for c, so that only chance or the lock itself can keep it
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

// over says whether the call has ended.
func (u *undertaking) over() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// excuses says whether something explains that c did not get a free lock: a fault, a call that did not return,
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
