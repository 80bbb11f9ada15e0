package player

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
)

// Key is something that clients lock, and where the lock on it is kept. Every step that looks
// at, waits for or touches a key of a lock asks Kept, and nothing else.
type Key struct {
	Name string        // what clients ask the lock for
	Kept cluster.Place // nowhere if Unknown is set
	// Unknown is why nobody knows where the lock is kept; nil: it is known.
	Unknown error
}

// key is the n-th key, counting from 1.
func (s *Stage) key(n int) (Key, error) {
	if n < 1 || n > len(s.Keys) {
		return Key{}, fmt.Errorf("the script names key %d, and there are %d", n, len(s.Keys))
	}
	return s.Keys[n-1], nil
}

// name is the name of the first key, which is that of scripts unless they say otherwise.
func (s *Stage) name() string { return s.Keys[0].Name }

// kept is where the locks on some keys are kept: on all if none is given. That it is not known
// is a *MissedError.
func (s *Stage) kept(keys ...Key) (cluster.Place, error) {
	if len(keys) == 0 {
		keys = s.Keys
	}
	all := cluster.Place{Database: keys[0].Kept.Database}
	for _, k := range keys {
		if k.Unknown != nil {
			return cluster.Place{}, &MissedError{Why: fmt.Sprintf("nobody knows where the lock on %s is kept: %v", k.Name, k.Unknown)}
		}
		all.Names = append(all.Names, k.Kept.Names...)
	}
	return all, nil
}

// Kept is where all locks are kept that is known of.
func (s *Stage) Kept() cluster.Place {
	var all cluster.Place
	for _, k := range s.Keys {
		if k.Unknown == nil {
			all.Database = k.Kept.Database
			all.Names = append(all.Names, k.Kept.Names...)
		}
	}
	return all
}

// onLock matches the commands of some names on the keys of the locks; all if none is given.
func (s *Stage) onLock(names ...string) (wire.Match, error) {
	place, err := s.kept()
	return wire.Match{Names: names, Database: place.Database, Keys: place.Names}, err
}

// held says on how many shards the lock's server still has one of the keys of a place, and for how long
// they will have one at most: 0 if that is for ever.
func (s *Stage) held(ctx context.Context, place cluster.Place) (shards int, left time.Duration, err error) {
	endless := false
	for shard := range s.Shards {
		node := s.Cluster.Primary(shard)
		if !s.Cluster.Alive(node) {
			continue
		}
		keys, err := s.Cluster.Inspect(ctx, node, place.Database, place.Names...)
		if err != nil {
			return 0, 0, fmt.Errorf("inspect %v on %s: %w", place, node, err)
		}
		there := false
		for _, k := range keys {
			there = there || k.Exists
			left = max(left, k.TTL)
			endless = endless || k.Exists && k.TTL < 0
		}
		if there {
			shards++
		}
	}
	if endless {
		left = 0
	}
	return shards, left, nil
}
