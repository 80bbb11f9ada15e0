package docker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/node"
)

// packetFilters are the two faces of iptables. Which one works is up to the kernel of
// the engine's machine.
func packetFilters() []string { return []string{"iptables", "iptables-legacy"} }

// CanDrop makes a rule that nothing leads to, in one of the containers, and removes it
// again. The error is a *MissingError.
func (c *Cluster) CanDrop(ctx context.Context) error {
	for _, n := range c.Members {
		if s := c.Machines[n.Name]; s.current() != nil && !s.Paused() {
			_, err := c.packetFilter(ctx, s)
			return err
		}
	}
	return errors.New("want a node that runs, to try iptables in it; found none")
}

// packetFilter is the face of iptables that works in the containers.
func (c *Cluster) packetFilter(ctx context.Context, s *server) (string, error) {
	if known := c.filter.Load(); known != nil {
		return *known, nil
	}
	var errs []error
	for _, name := range packetFilters() {
		_, err := c.restore(ctx, s, name, "", ":lb-try - [0:0]", "-A lb-try -j DROP", "-F lb-try", "-X lb-try")
		if err == nil {
			c.filter.Store(&name)
			return name, nil
		}
		if ctx.Err() != nil {
			return "", err
		}
		errs = append(errs, err)
	}
	return "", &MissingError{
		Want:  "iptables in its containers",
		Found: fmt.Sprintf("that it fails there (%v; %v)", errs[0], errs[1]),
		Run:   "Run on the machine of the engine: sudo modprobe -a nf_tables nft_compat, or do without faults that drop packets.",
	}
}

// restore changes the rules in a container, all or none of them, after a command of
// the shell whose output it returns.
func (c *Cluster) restore(ctx context.Context, s *server, filter, first string, rules ...string) (string, error) {
	if first != "" {
		first += " && "
	}
	// -w 5: the lock that iptables-legacy has is waited for, but not for ever.
	script := first + "printf '%s\\n' \"$@\" | " + filter + "-restore -w 5 --noflush"
	command := append([]string{"sh", "-c", script, "sh", "*filter"}, append(rules, "COMMIT")...)
	return c.exec(ctx, s, command...)
}

// drop is what loses the packets of a path: a chain of iptables in one container.
type drop struct {
	run   *run     // the chain ends with it
	chain string   // drops, and counts, what is led into it
	rules []string // lead into it
}

// dropAt says in whose container packets on path are dropped, and which: all but those
// that it sends to itself; or those between it and one peer. A replica hears of its
// master through us, at a port of its own.
func (c *Cluster) dropAt(path cluster.Path) (*server, drop, error) {
	name := func(end string) string { return strings.ReplaceAll(end, cluster.Anyone, "any") }
	d := drop{chain: "lb-" + name(path.From) + "-" + name(path.To)}
	lead := func(rule string) { d.rules = append(d.rules, rule+" -j "+d.chain) }
	switch {
	case path.From == path.To:
		return nil, d, fmt.Errorf("want a path between two ends, got from %s to %s", path.From, path.To)
	case path.From == cluster.Anyone:
		lead("INPUT ! -i lo")
		s, err := c.Machine(path.To)
		return s, d, err
	case path.To == cluster.Anyone:
		lead("OUTPUT ! -o lo")
		s, err := c.Machine(path.From)
		return s, d, err
	}
	from, err := c.Machine(path.From)
	if err != nil {
		return nil, d, err
	}
	to, err := c.Machine(path.To)
	if err != nil {
		return nil, d, err
	}
	if c.Replication.Master(path.From) == path.To {
		lead("OUTPUT -d " + to.ip.String())
		source := c.Replication.Source(path.From)
		lead(fmt.Sprintf("OUTPUT -p tcp -d %v --dport %d", source.Addr(), source.Port()))
		return from, d, nil
	}
	lead("INPUT -s " + from.ip.String())
	if c.Replication.Master(path.To) == path.From {
		source := c.Replication.Source(path.To)
		lead(fmt.Sprintf("INPUT -p tcp -s %v --sport %d", source.Addr(), source.Port()))
	}
	return to, d, nil
}

// Drop loses all packets on path, by iptables inside the container at one end of it.
// Packets between a master and its replica are lost at the replica.
func (c *Cluster) Drop(ctx context.Context, path cluster.Path) error {
	at, d, err := c.dropAt(path)
	if err != nil {
		return err
	}
	return c.Change(ctx, "drop packets at", at.node.Name, func(ctx context.Context, s *server) error {
		if d.run = s.current(); d.run == nil {
			return node.NotRunning(s.node.Name)
		}
		if _, ok := s.dropped(path); ok {
			return nil
		}
		filter, err := c.packetFilter(ctx, s)
		if err != nil {
			return err
		}
		c.Replication.LastLook(ctx, s.node.Name)
		rules := []string{":" + d.chain + " - [0:0]", "-A " + d.chain + " -j DROP"}
		for _, rule := range d.rules {
			rules = append(rules, "-I "+rule)
		}
		if _, err := c.restore(ctx, s, filter, "", rules...); err != nil {
			return err
		}
		s.setDrop(path, d)
		return nil
	})
}

// Dropped returns how many packets on path were lost since Drop.
func (c *Cluster) Dropped(ctx context.Context, path cluster.Path) (packets int64, err error) {
	return c.counted(ctx, path, func(ctx context.Context, s *server, filter string, d drop) (string, error) {
		return c.exec(ctx, s, "sh", "-c", count(filter, d))
	})
}

// Pass lets packets on path through again, and returns how many were lost since Drop.
func (c *Cluster) Pass(ctx context.Context, path cluster.Path) (packets int64, err error) {
	return c.counted(ctx, path, func(ctx context.Context, s *server, filter string, d drop) (string, error) {
		var rules []string
		for _, rule := range d.rules {
			rules = append(rules, "-D "+rule)
		}
		counters, err := c.restore(ctx, s, filter, count(filter, d), append(rules, "-F "+d.chain, "-X "+d.chain)...)
		if err == nil {
			s.endDrop(path)
		}
		return counters, err
	})
}

// counted calls f, which prints the rules of a drop with their counters, and reads
// these. Without a drop it returns 0.
func (c *Cluster) counted(ctx context.Context, path cluster.Path, f func(context.Context, *server, string, drop) (string, error)) (packets int64, err error) {
	var at *server // where it is now: who follows whom may have changed since Drop
	for _, s := range c.Machines {
		if _, ok := s.dropped(path); ok {
			at = s
		}
	}
	if at == nil {
		_, _, err := c.dropAt(path)
		return 0, err
	}
	err = c.Change(ctx, "look for dropped packets at", at.node.Name, func(ctx context.Context, s *server) error {
		d, ok := s.dropped(path)
		if !ok {
			return nil
		}
		filter, err := c.packetFilter(ctx, s)
		if err != nil {
			return err
		}
		counters, err := f(ctx, s, filter, d)
		if err != nil {
			return err
		}
		packets, err = readCounter(counters, d.chain)
		return err
	})
	return packets, err
}

// count is the command that prints a chain with its counters.
func count(filter string, d drop) string { return filter + " -w 5 -v -S " + d.chain }

// readCounter reads how many packets the one rule of a chain has met:
//
//	-A lb-any-master -c 12 720 -j DROP
func readCounter(rules, chain string) (int64, error) {
	for line := range strings.Lines(rules) {
		fields := strings.Fields(line)
		for i, field := range fields {
			if field == "-c" && i+1 < len(fields) && fields[1] == chain {
				return strconv.ParseInt(fields[i+1], 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("want the counters of chain %s from iptables, found %q", chain, rules)
}

// dropped is the drop of a path that is in force at the server.
func (s *server) dropped(path cluster.Path) (drop, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.drops[path]
	return d, ok && d.run == s.running()
}

func (s *server) setDrop(path cluster.Path, d drop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drops == nil {
		s.drops = make(map[cluster.Path]drop)
	}
	s.drops[path] = d
}

func (s *server) endDrop(path cluster.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.drops, path)
}
