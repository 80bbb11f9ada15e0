package player

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// startFault begins a fault on what the step names: one of its kind on each of its targets.
func (s *Stage) startFault(ctx context.Context, p schedule.Step) error {
	if p.What == schedule.KillClient {
		return s.crashes(ctx, p.Who[0])
	}
	k, err := nemesis.FindWritten(p.What)
	if err != nil {
		return err
	}
	if k.Keys {
		if _, err := s.kept(); err != nil {
			return err
		}
	}
	targets, err := s.targets(k, p)
	if err != nil {
		return err
	}
	scene := s.Scene()
	for i, t := range targets {
		f, err := k.Make(scene, t)
		if err != nil {
			return err
		}
		s.remember(p, f)
		if err := s.startOn(ctx, f, t); err != nil {
			return err
		}
		if err := s.apart(ctx, k, i == len(targets)-1); err != nil {
			return err
		}
	}
	return nil
}

// targets are what a fault of a kind hits that a step begins. There may be none, if the lock has fewer
// servers than the schedule was written for.
func (s *Stage) targets(k nemesis.Kind, p schedule.Step) ([]nemesis.Target, error) {
	t := nemesis.Target{Clients: p.Who, Rate: p.Times}
	if k.Amount == nemesis.ByTime {
		t.By = s.span(p.By)
	}
	if p.Reply {
		t.Way = nemesis.ToIt
	} else if k.F == nemesis.OneWayF {
		t.Way = nemesis.FromIt
	}
	switch k.Hits {
	case nemesis.HitsClient:
		_, err := s.clients(p.Who...)
		t.Register = true
		return []nemesis.Target{t}, err
	case nemesis.HitsConnections, nemesis.HitsConnection:
		return s.connections(k, t, p)
	case nemesis.HitsMaster:
		return []nemesis.Target{t}, nil
	case nemesis.HitsReplica:
		replica, _, err := s.replicas(max(p.Replica, 1))
		t.Replica = replica
		return []nemesis.Target{t}, err
	case nemesis.HitsReplicas:
		var all []nemesis.Target
		for _, node := range s.Cluster.Nodes() {
			if node.Role == cluster.Replica {
				t.Replica = node.Name
				all = append(all, t)
			}
		}
		return all, nil
	}
	on := p.On
	if k.Hits == nemesis.HitsServers {
		on = []string{schedule.All}
	}
	nodes, err := s.nodes(on)
	var all []nemesis.Target
	for _, node := range nodes {
		t.Nodes = []string{node}
		all = append(all, t)
	}
	return all, err
}

// connections is the target of a fault of the connections of a client to the servers that a step names.
func (s *Stage) connections(k nemesis.Kind, t nemesis.Target, p schedule.Step) ([]nemesis.Target, error) {
	on := p.On
	if len(on) == 0 && k.Hits == nemesis.HitsConnections {
		on = []string{schedule.All}
	}
	nodes, err := s.nodes(on)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	t.Nodes = nodes
	if _, err := s.clients(p.Who...); err != nil || k.Hits == nemesis.HitsConnections {
		return []nemesis.Target{t}, err
	}
	place, err := s.kept()
	t.Of = func(node string) wire.Match { return deciding{s.Cluster, node, place}.taken() }
	return []nemesis.Target{t}, err
}

// startOn begins a fault, and looks whether it hits what the schedule is about.
func (s *Stage) startOn(ctx context.Context, f nemesis.Fault, t nemesis.Target) error {
	switch f.F {
	case nemesis.EvictF:
		return s.evicts(ctx, f)
	case nemesis.KillF, nemesis.FailoverF:
		if err := s.Nemesis.Start(ctx, f); err != nil {
			return err
		}
		return s.hungUp(ctx, f.Target)
	case nemesis.PauseF:
		return s.standsStill(ctx, f, t.Clients[0])
	}
	return s.Nemesis.Start(ctx, f)
}

// apart lets an instant pass between two servers that something happens to, for replays. last says that the
// targets of the step end here.
func (s *Stage) apart(ctx context.Context, k nemesis.Kind, last bool) error {
	switch {
	case k.F == nemesis.KillF, k.Hits == nemesis.HitsReplicas && !last:
		return nil
	case slices.Contains([]nemesis.Hits{nemesis.HitsServer, nemesis.HitsMaster, nemesis.HitsReplicas}, k.Hits):
		return s.Clock.Sleep(ctx, 1)
	}
	return nil
}

// evicts fills the memory of a server whose policy lets it evict any key. That nothing of the lock went is a
// *MissedError.
func (s *Stage) evicts(ctx context.Context, f nemesis.Fault) error {
	d, err := s.deciding(f.Target)
	if err != nil {
		return err
	}
	there := func(k cluster.KeyState) bool { return k.Exists }
	had := slices.ContainsFunc(d.look(), there)
	if err := s.Nemesis.Start(ctx, f); err != nil {
		return err
	}
	if !had || slices.ContainsFunc(d.look(), there) {
		return &MissedError{Why: fmt.Sprintf("%s had nothing of the lock under %v that was evicted", f.Target, d.place)}
	}
	return nil
}

// standsStill stops a client that is to hold the lock, or is in a call. That it does nothing of either is a *MissedError.
func (s *Stage) standsStill(ctx context.Context, f nemesis.Fault, client string) error {
	c, err := s.client(client)
	if err != nil {
		return err
	}
	if err := s.Nemesis.Start(ctx, f); err != nil {
		return err
	}
	if u := s.pending[c]; !c.Holds() && (u == nil || u.over()) {
		return &MissedError{Why: c.Name + " does not hold the lock that it was to hold while it stands still"}
	}
	return nil
}

// remember notes what a fault hits that a step begins: another step may stop it.
func (s *Stage) remember(p schedule.Step, f nemesis.Fault) {
	if s.hit == nil {
		s.hit = map[string][]string{}
	}
	s.hit[word(p)] = append(s.hit[word(p)], f.Target)
}

// word is what the faults that a step is about are remembered by.
func word(p schedule.Step) string { return strings.Join(append([]string{p.What}, p.Who...), " ") }

// stopFault ends the faults that a step has begun: of servers those on the servers that it names, and of the
// rest all. That one hit nothing is a *MissedError.
func (s *Stage) stopFault(ctx context.Context, p schedule.Step) error {
	k, err := nemesis.FindWritten(p.What)
	if err != nil {
		return err
	}
	hit := s.hit[word(p)]
	delete(s.hit, word(p))
	if k.Hits == nemesis.HitsServer {
		if hit, err = s.nodes(p.On); err != nil {
			return err
		}
	}
	for i, target := range hit {
		if err := s.heal(ctx, k.F, target); err != nil {
			return err
		}
		if err := s.apart(ctx, k, i == len(hit)-1); err != nil {
			return err
		}
	}
	if len(p.Who) == 0 || len(hit) == 0 {
		return nil
	}
	return s.goesOn(ctx, k.F, p.Who[0])
}

// capability returns what of a deployment a step needs, or a *nemesis.IncapableError.
func capability[T any](s *Stage, what string) (T, error) {
	c, ok := s.Cluster.(T)
	if !ok {
		return c, &nemesis.IncapableError{Want: what}
	}
	return c, nil
}

// set sets a setting of the first master.
func (s *Stage) set(ctx context.Context, name string, value int) error {
	c, err := capability[cluster.Commander](s, "be sent commands past the clients")
	if err != nil {
		return err
	}
	s.confirms = s.confirms || name == schedule.MinReplicas
	_, err = c.Do(ctx, s.Cluster.Primary(0), "CONFIG", "SET", name, fmt.Sprint(value))
	return err
}
