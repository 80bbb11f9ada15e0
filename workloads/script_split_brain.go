package workloads

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/cluster"
	"github.com/lockbench/lockbench/nemesis"
	"github.com/lockbench/lockbench/wire"
)

// BrainSplits cuts the first master off with one client, and promotes its replica for the
// others. It lasts until the end.
func BrainSplits(stays string) Step {
	return Step{"the master is cut off with " + stays + ", and its replica is promoted for everybody else", func(ctx context.Context, s *Stage) error {
		d, err := capability[cluster.Demoter](s, "have two masters of one shard")
		if err != nil {
			return err
		}
		replica, err := s.replica()
		if err != nil {
			return err
		}
		scene := s.scene()
		split := nemesis.Split{Master: s.Cluster.Primary(0), Replica: replica, Kept: scene.Kept, Clock: s.Clock}
		for _, v := range scene.Clients {
			if v.Name == stays {
				split.Stay = append(split.Stay, v)
			} else {
				split.Leave = append(split.Leave, v)
			}
		}
		return s.Nemesis.Start(ctx, nemesis.SplitBrain(s.Cluster, d, split))
	}}
}

// MasterNeedsReplica makes the first master refuse writes while no replica follows it
// (min-replicas-to-write 1).
func MasterNeedsReplica() Step {
	return Step{"the master takes writes only while a replica follows it (min-replicas-to-write 1)", func(ctx context.Context, s *Stage) error {
		c, err := capability[cluster.Commander](s, "be sent commands past the clients")
		if err != nil {
			return err
		}
		s.confirms = true
		_, err = c.Do(ctx, s.Cluster.Primary(0), "CONFIG", "SET", "min-replicas-to-write", "1")
		return err
	}}
}

// OldMasterRefusesWrites waits until the node that was the first master refuses writes for
// want of a replica.
func OldMasterRefusesWrites() Step {
	return Step{"the old master refuses writes for want of a replica", func(ctx context.Context, s *Stage) error {
		c, err := capability[cluster.Commander](s, "be sent commands past the clients")
		if err != nil {
			return err
		}
		old := s.Cluster.Nodes()[0].Name
		end := s.Clock.Now().Add(s.TTL)
		for {
			_, err := c.Do(ctx, old, "DEL", "lockbench:absent")
			var refused wire.ReplyError
			switch {
			case errors.As(err, &refused) && strings.HasPrefix(string(refused), "NOREPLICAS "):
				return nil
			case err != nil:
				return err
			case s.Clock.Now().After(end):
				return fmt.Errorf("%s still takes writes without a replica after %v", old, s.TTL)
			}
			if err := s.Clock.Sleep(ctx, beat); err != nil {
				return err
			}
		}
	}}
}
