package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// SquatterF is a key of the lock that somebody else uses for something else.
const SquatterF histories.F = "squatter"

// The scripts answer what they found: squat the type before and after, the others its own or
// not. Before them comes selects if the key is not in the first database.
const (
	selects = "redis.call('SELECT', ARGV[1])\n"
	squat   = `local was = redis.call('TYPE', KEYS[1]).ok
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], 'squatter')
return {was, redis.call('TYPE', KEYS[1]).ok}`
	unsquat = `if redis.call('TYPE', KEYS[1]).ok ~= 'list' then return 0 end
return redis.call('DEL', KEYS[1])`
	evictOwn = `if redis.call('TYPE', KEYS[1]).ok ~= 'list' or redis.call('LINDEX', KEYS[1], 0) ~= 'squatter' then return 0 end
return redis.call('DEL', KEYS[1])`
)

// squatter puts a list under the first key of the lock, in place of what is there: a type that
// is wrong for locks in strings and for locks in hashes (P53). Healing deletes it, if
// nobody has before; what was there does not come back.
func squatter(c cluster.Commander, node string, lock cluster.Place) Fault {
	key, before := lock.Names[0], ""
	if lock.Database != 0 {
		before = selects
	}
	eval := func(script string) []string {
		return []string{"EVAL", before + script, "1", key, strconv.Itoa(lock.Database)}
	}
	was := ""
	return Fault{
		F: SquatterF, Target: node, Plan: "somebody puts a list under " + cluster.Place{Database: lock.Database, Names: lock.Names[:1]}.String(),
		Start: func(ctx context.Context) (string, error) {
			reply, err := c.Do(ctx, node, eval(squat)...)
			if err != nil {
				return "", err
			}
			if len(reply.Elems) != 2 || reply.Elems[1].Text() != "list" {
				return "", fmt.Errorf("want a list under %s, got %v", key, reply)
			}
			was = reply.Elems[0].Text()
			return "", nil
		},
		Stop: func(ctx context.Context) (string, error) {
			found := "it had taken a free key"
			if was != "none" {
				found = "it had replaced a " + was
			}
			deleted, err := number(ctx, c, node, eval(unsquat)...)
			switch {
			case err != nil:
				return "", err
			case deleted == 0:
				return fmt.Sprintf("the list is gone already; %s", found), nil
			}
			return fmt.Sprintf("the list is deleted; %s", found), nil
		},
		Missed: func() string {
			if was == "none" {
				return "nothing of the lock was under " + key + " when the list was put there"
			}
			return ""
		},
	}
}

// evictSquatter deletes what a squatter left where a node keeps a lock, which may have come back
// with a replica or from a disk since it was healed, and leaves all else alone.
func evictSquatter(ctx context.Context, s cluster.Cluster, node string, lock cluster.Place) error {
	c, ok := s.(cluster.Commander)
	if !ok {
		return nil
	}
	before := ""
	if lock.Database != 0 {
		before = selects
	}
	for _, key := range lock.Names {
		if _, err := number(ctx, c, node, "EVAL", before+evictOwn, "1", key, strconv.Itoa(lock.Database)); err != nil {
			return err
		}
	}
	return nil
}

func squatterKind() Kind {
	return Kind{
		Name: "squatter", Title: "somebody puts a list under a key of the lock (WRONGTYPE)", F: SquatterF, Unsupported: needsCommands,
		Hits: HitsServer, Keys: true, Clear: evictSquatter,
		Begins: "{server} gets a list under the lock's key from somebody else",
		Ends:   "{server} has the list no more",
		Make: func(s Scene, t Target) (Fault, error) {
			return onServer(wantCommands, func(c cluster.Commander, node string) Fault { return squatter(c, node, s.keys(t)) })(s, t)
		},
		Pick: func(s Scene, r *rand.Rand) (Target, bool) {
			t, alive := pickServer(s, r)
			keys, known := s.place(r)
			t.Keys = keys
			return t, alive && known
		},
	}
}
