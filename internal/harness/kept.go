package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/lockbench/lockbench/internal/player"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

// kept are the keys, and where a lock says that it keeps the locks on them.
func (t Test) kept(lock locks.Spec) []player.Key {
	var keys []player.Key
	for _, name := range t.keys() {
		names := []string{name}
		if lock.Keys != nil {
			names = lock.Keys(name)
		}
		keys = append(keys, player.Key{Name: name, Kept: cluster.Place{Database: lock.Database, Names: names}})
	}
	return keys
}

// keptByWorkers are the keys, and where workers keep the locks on them: as their hello says,
// or, if that is silent, as is seen when m acquires and releases each lock once before the run
// begins, in a process that another takes the place of then. What cannot be seen is not known.
func (m *member) keptByWorkers(ctx context.Context, test Test, env environment) ([]player.Key, error) {
	client, ok := m.Process.(*worker.Client)
	if !ok {
		return nil, fmt.Errorf("client %s is no worker", m.Name)
	}
	if said := client.Said(); said.Keys != nil {
		return test.kept(said), nil
	}
	var keys []player.Key
	for _, name := range test.keys() {
		r := newRehearsal(env.cluster)
		key := player.Key{Name: name}
		var seen error
		if key.Kept, seen = r.play(ctx, m, test, name); seen != nil {
			key.Unknown = fmt.Errorf("its worker does not say (in hello, keys), and it cannot be seen: %w", seen)
		}
		if err := r.cleanUp(ctx); err != nil {
			return nil, fmt.Errorf("where is the lock on %s kept: %w", name, err)
		}
		keys = append(keys, key)
	}
	// A process that has used the lock knows more than a fresh one: which scripts the servers have.
	if _, err := client.Kill(ctx); err != nil {
		return nil, err
	}
	_, err := client.Restart(ctx)
	return keys, err
}

// A rehearsal is a lock that is acquired and released once, to see which keys it writes: a key
// that a command of the client names, that was not there before the command and is there when
// the lock has been acquired, and that is there no more when it has been released.
type rehearsal struct {
	cluster cluster.Cluster

	mu    sync.Mutex
	named []entry // in the order in which commands named them
	there map[entry]bool
	err   error
}

// entry is a key in a database of a node.
type entry struct {
	node     string
	database int
	key      string
}

func newRehearsal(c cluster.Cluster) *rehearsal {
	return &rehearsal{cluster: c, there: map[entry]bool{}}
}

// play acquires and releases the lock on key, and returns where it was seen to be kept.
func (r *rehearsal) play(ctx context.Context, m *member, test Test, key string) (cluster.Place, error) {
	defer r.watch(ctx, m.Name)()
	acquires := []func(context.Context) (locks.Lease, error){
		func(ctx context.Context) (locks.Lease, error) { return m.Lock.Acquire(ctx, key, test.TTL) },
	}
	if rw, ok := m.Lock.(locks.RWLocker); ok && test.Lock.ReadWrite {
		acquires = append(acquires, func(ctx context.Context) (locks.Lease, error) { return rw.AcquireRead(ctx, key, test.TTL) })
	}
	var all cluster.Place
	for i, acquire := range acquires {
		place, err := r.once(ctx, acquire)
		if err != nil {
			return cluster.Place{}, err
		}
		if i > 0 && place.Database != all.Database {
			return cluster.Place{}, fmt.Errorf("readers are kept in database %d, and the others in %d", place.Database, all.Database)
		}
		all.Database = place.Database
		for _, name := range place.Names {
			if !slices.Contains(all.Names, name) {
				all.Names = append(all.Names, name)
			}
		}
	}
	return all, nil
}

func (r *rehearsal) once(ctx context.Context, acquire func(context.Context) (locks.Lease, error)) (cluster.Place, error) {
	lease, err := acquire(ctx)
	if err != nil {
		return cluster.Place{}, fmt.Errorf("acquire the free lock once before the run: %w", err)
	}
	written, err := r.written(ctx)
	if err != nil {
		return cluster.Place{}, err
	}
	released := lease.Release(ctx)
	left, err := r.written(ctx)
	if err != nil {
		return cluster.Place{}, err
	}
	// A counter of tokens, and the like, stays.
	gone := slices.DeleteFunc(slices.Clone(written), func(e entry) bool { return slices.Contains(left, e) })
	if len(gone) == 0 {
		return cluster.Place{}, fmt.Errorf("of the keys that its commands name, %v are there when it is acquired and all of them when it is released (its release: %w)", names(written), released)
	}
	place := cluster.Place{Database: gone[0].database}
	for _, e := range gone {
		if e.database != place.Database {
			return cluster.Place{}, fmt.Errorf("it has keys in databases %d and %d", place.Database, e.database)
		}
		if !slices.Contains(place.Names, e.key) {
			place.Names = append(place.Names, e.key)
		}
	}
	return place, nil
}

func names(entries []entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.key)
	}
	return all
}

// watch notes which keys the client's commands name, and whether they are there before the
// first that does, until stop is called.
func (r *rehearsal) watch(ctx context.Context, client string) (stop func()) {
	var links []*wire.Link
	for _, node := range r.cluster.Nodes() {
		if node.Role == cluster.Register {
			continue
		}
		link := r.cluster.Link(client, node.Name)
		links = append(links, link)
		link.Observe(func(e wire.Event) {
			if e.Kind != wire.Sent {
				return
			}
			for _, key := range e.Command.Keys() {
				r.note(ctx, entry{node.Name, e.Command.Database, key})
			}
		})
	}
	return func() {
		for _, link := range links {
			link.Observe(nil)
		}
	}
}

// note looks at a key before the first command that names it.
func (r *rehearsal) note(ctx context.Context, e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.there[e]; known {
		return
	}
	there, err := r.exists(ctx, e)
	r.there[e], r.err = there, errors.Join(r.err, err)
	r.named = append(r.named, e)
}

func (r *rehearsal) exists(ctx context.Context, e entry) (bool, error) {
	states, err := r.cluster.Inspect(ctx, e.node, e.database, e.key)
	return err == nil && states[0].Exists, err
}

// written are the keys that are there and were not.
func (r *rehearsal) written(ctx context.Context) ([]entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []entry
	for _, e := range r.named {
		if r.there[e] {
			continue
		}
		there, err := r.exists(ctx, e)
		r.err = errors.Join(r.err, err)
		if there {
			found = append(found, e)
		}
	}
	return found, r.err
}

// deletes is a script that deletes a key of a database.
const deletes = `if ARGV[1] ~= '0' then redis.call('SELECT', ARGV[1]) end
return redis.call('DEL', KEYS[1])`

// cleanUp removes what was written, so that the run begins with none of it. On servers that
// take no commands past the clients only what the lock itself removes is gone.
func (r *rehearsal) cleanUp(ctx context.Context) error {
	left, err := r.written(ctx)
	c, ok := r.cluster.(cluster.Commander)
	if err != nil || !ok {
		return err
	}
	for _, e := range left {
		if _, err := c.Do(ctx, e.node, "EVAL", deletes, "1", e.key, strconv.Itoa(e.database)); err != nil {
			return err
		}
	}
	return nil
}
