package embedded

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// feed is the asynchronous replication from one master to one replica.
type feed struct {
	from, to *node
	lag      time.Duration

	mu       sync.Mutex
	last     dataset  // what the master held when it was last looked at
	flying   []change // sent, not yet due
	sent     int64    // changes made by the master
	have     int64    // changes the replica has
	cut      bool
	promoted bool
}

// change is one copy of the data on its way.
type change struct {
	offset int64
	due    time.Time
	data   dataset
}

// dataset is everything a server holds, with absolute expiries, as Redis itself
// replicates them since version 7.
type dataset map[string]entry

type entry struct {
	kind    string
	str     string
	fields  map[string]string
	list    []string
	scores  map[string]float64
	expires time.Time // zero: never
}

func (n *node) follow(master *node, lag time.Duration) {
	f := &feed{from: master, to: n, lag: lag, last: dataset{}}
	n.master = f
	master.feeds = append(master.feeds, f)
}

// answered runs after each piece of a reply is sent. What does not fit the server's
// buffer is sent while the command still holds the server's lock; the rest is then
// done by a goroutine that waits for the command to end, at the same instant.
func (n *node) answered() {
	m := n.server()
	if m == nil || len(n.feeds) == 0 {
		return
	}
	if !m.TryLock() {
		go n.replicate()
		return
	}
	m.Unlock()
	n.replicate()
}

// replicate sends what changed to the replicas.
func (n *node) replicate() {
	m := n.server()
	if m == nil {
		return
	}
	data, now := snapshot(m, n.now()), n.source.Now()
	for _, f := range n.feeds {
		f.send(data, now)
	}
}

func (f *feed) send(data dataset, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if reflect.DeepEqual(data, f.last) {
		return
	}
	f.last = data
	f.sent++
	if !f.cut && !f.promoted {
		f.flying = append(f.flying, change{f.sent, now.Add(f.lag), data})
	}
}

// arrive applies what is due.
func (f *feed) arrive() {
	now := f.to.source.Now()
	f.mu.Lock()
	var due *change
	for len(f.flying) > 0 && !f.flying[0].due.After(now) {
		due, f.flying = &f.flying[0], f.flying[1:]
	}
	if due != nil {
		f.have = due.offset
	}
	f.mu.Unlock()
	if m := f.to.server(); due != nil && m != nil {
		restore(m, due.data, f.to.now())
	}
}

func (f *feed) following() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.promoted
}

func (f *feed) setCut(cut bool) {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.promoted {
		return // it follows nobody any more
	}
	f.cut, f.flying = cut, nil
	if !cut && f.sent > f.have { // a full resynchronisation
		f.flying = []change{{f.sent, f.to.source.Now().Add(f.lag), f.last}}
	}
}

// promote drops what has not arrived.
func (f *feed) promote() {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.promoted, f.flying = true, nil
}

// lead returns how far the replica is and when it will be at offset; the zero time
// if nothing on its way brings it there.
func (f *feed) lead(offset int64) (arrived bool, due time.Time) {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.have >= offset {
		return true, due
	}
	for _, c := range f.flying {
		if c.offset >= offset {
			return false, c.due
		}
	}
	return false, due
}

func (f *feed) offsets() (have, sent int64) {
	f.arrive()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have, f.sent
}

// wait is Redis' WAIT: it sleeps until enough replicas have everything sent so far,
// or for timeout (0: for ever), and returns how many have.
func (n *node) wait(replicas int, timeout time.Duration) int {
	var want int64
	for _, f := range n.feeds {
		_, sent := f.offsets()
		want = max(want, sent)
	}
	start := n.source.Now()
	for {
		count, next := 0, time.Time{}
		for _, f := range n.feeds {
			arrived, due := f.lead(want)
			if arrived {
				count++
			} else if !due.IsZero() && (next.IsZero() || due.Before(next)) {
				next = due
			}
		}
		if count >= replicas {
			return count
		}
		if timeout > 0 {
			if end := start.Add(timeout); next.IsZero() || next.After(end) {
				next = end
			}
			if !n.source.Now().Before(start.Add(timeout)) {
				return count
			}
		}
		if next.IsZero() {
			return count // nothing is on its way: waiting for ever would stop the world
		}
		if n.source.Sleep(context.Background(), next.Sub(n.source.Now())) != nil {
			return count
		}
	}
}

// snapshot copies what m holds. now is by m's own clock.
func snapshot(m *miniredis.Miniredis, now time.Time) dataset {
	data := dataset{}
	for _, k := range m.Keys() {
		e := entry{kind: m.Type(k)}
		if ttl := m.TTL(k); ttl > 0 {
			e.expires = now.Add(ttl)
		}
		switch e.kind {
		case "string":
			e.str, _ = m.Get(k)
		case "hash":
			e.fields = map[string]string{}
			fields, _ := m.HKeys(k)
			for _, f := range fields {
				e.fields[f] = m.HGet(k, f)
			}
		case "list":
			e.list, _ = m.List(k)
		case "set":
			e.list, _ = m.Members(k)
		case "zset":
			e.scores, _ = m.SortedSet(k)
		}
		data[k] = e
	}
	return data
}

// restore replaces what m holds.
func restore(m *miniredis.Miniredis, data dataset, now time.Time) {
	m.FlushAll()
	for k, e := range data {
		if !e.expires.IsZero() && !e.expires.After(now) {
			continue
		}
		switch e.kind {
		case "string":
			_ = m.Set(k, e.str) // fails only for a key of another type, and there is none
		case "hash":
			for f, v := range e.fields {
				m.HSet(k, f, v)
			}
		case "list":
			_, _ = m.RPush(k, e.list...)
		case "set":
			_, _ = m.SAdd(k, e.list...)
		case "zset":
			for member, score := range e.scores {
				_, _ = m.ZAdd(k, score, member)
			}
		}
		if !e.expires.IsZero() {
			m.SetTTL(k, e.expires.Sub(now))
		}
	}
}

func (c *Cluster) feedTo(replica string) (*feed, error) {
	n, err := c.node(replica)
	if err != nil {
		return nil, err
	}
	if n.master == nil {
		return nil, fmt.Errorf("node %s is not a replica", replica)
	}
	return n.master, nil
}

// Sync returns once every replica of master has everything written so far.
func (c *Cluster) Sync(ctx context.Context, master string) error {
	n, err := c.node(master)
	if err != nil {
		return err
	}
	for _, f := range n.feeds {
		_, sent := f.offsets()
		for {
			arrived, due := f.lead(sent)
			if arrived {
				break
			}
			if due.IsZero() {
				return fmt.Errorf("replica %s cannot catch up with %s: their link is cut", f.to.Name, master)
			}
			if err := c.timer.Sleep(ctx, due.Sub(c.timer.Now())); err != nil {
				return err
			}
		}
	}
	return nil
}

// CutReplication severs the link that feeds replica. What was on its way is lost.
func (c *Cluster) CutReplication(_ context.Context, replica string) error {
	f, err := c.feedTo(replica)
	if err == nil {
		f.setCut(true)
	}
	return err
}

// HealReplication restores the link; the replica then gets a full copy.
func (c *Cluster) HealReplication(_ context.Context, replica string) error {
	f, err := c.feedTo(replica)
	if err == nil {
		f.setCut(false)
	}
	return err
}

// Promote makes replica a master and the Primary of its shard.
func (c *Cluster) Promote(_ context.Context, replica string) error {
	f, err := c.feedTo(replica)
	if err != nil {
		return err
	}
	f.promote()
	c.mu.Lock()
	defer c.mu.Unlock()
	for shard, name := range c.primary {
		if name == f.from.Name {
			c.primary[shard] = replica
		}
	}
	return nil
}

// Offsets counts changes: how many replica has and how many its master made.
func (c *Cluster) Offsets(_ context.Context, replica string) (have, sent int64, err error) {
	f, err := c.feedTo(replica)
	if err != nil {
		return 0, 0, err
	}
	have, sent = f.offsets()
	return have, sent, nil
}
