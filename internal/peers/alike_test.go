package peers_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/peers"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// alike puts a lock under swarm and measures what it breaks by references that do the same with a few seeds.
func alike(t *testing.T, name string, load harness.Load, seed uint64) checker.Peers {
	t.Helper()
	lock, err := libraries.Catalogue().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := harness.ForWorkload(load, lock, resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = seed
	cfg.Peers = (&peers.Load{Load: load, TTL: cfg.TTL, Locks: libraries.Catalogue(), Seeds: 5}).Measure
	res, err := harness.Run(t.Context(), cfg)
	if err != nil || res.Peers == nil {
		t.Fatalf("%v, %v; want a run that is measured", err, res.Outcome)
	}
	return *res.Peers
}

// TestAlike: what a lock breaks whenever its clients do the same, and no reference does, is its own fault.
func TestAlike(t *testing.T) {
	p := alike(t, "setnx-px-del", harness.Load{Workload: "swarm", Clients: 2}, 1)
	at := slices.IndexFunc(p.Own, func(o checker.OwnFault) bool { return o.Property == checker.TruthfulReplies })
	if !p.Alike || at < 0 || len(p.Own[at].KeptBy) < 3 {
		t.Errorf("%+v; want truthful replies as its own fault, kept by three others at least", p)
	}
}

// TestAlikeOneBreaks: what one reference breaks is unavoidable, whatever the others keep.
func TestAlikeOneBreaks(t *testing.T) {
	load := harness.Load{Workload: "swarm", Clients: 2}
	lock, err := libraries.Catalogue().Find("setnx-px-del")
	if err != nil {
		t.Fatal(err)
	}
	weak, err := libraries.Catalogue().Find("short-token") // stands in for a sound lock
	if err != nil {
		t.Fatal(err)
	}
	weak.Name, weak.Variant, weak.Sound, weak.New = "weak", "", true, lock.New
	strong, err := libraries.Catalogue().Find("setnx-px-watch")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := harness.ForWorkload(load, lock, resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = 1
	cfg.Peers = (&peers.Load{Load: load, TTL: cfg.TTL, Locks: locks.Catalogue{strong, weak}, Seeds: 5}).Measure
	res, err := harness.Run(t.Context(), cfg)
	if err != nil || res.Peers == nil || !slices.Contains(res.Peers.Unavoidable, checker.TruthfulReplies) || len(res.Peers.References) != 2 {
		t.Errorf("%v, %+v; want truthful replies as unavoidable, by two references", err, res.Peers)
	}
}

// TestAlikeRare: of what a lock breaks in one run and in next to none that is like it nothing is said.
func TestAlikeRare(t *testing.T) {
	effort.Long(t)
	p := alike(t, "bsm-redislock", harness.Load{Workload: "swarm", Clients: 3, Keys: 1, Nemesis: []string{"failover"}}, 10879)
	if len(p.Own) > 0 || !slices.Contains(p.Rare, checker.LeaseExclusion) {
		t.Errorf("%+v; want lease exclusion as too rare", p)
	}
}

// TestAlikeFaulted: leases that last longer lose more when a server forgets its keys, however often that is.
func TestAlikeFaulted(t *testing.T) {
	effort.Long(t)
	p := alike(t, "extend-adds-once", harness.Load{Workload: "swarm", Clients: 3, Keys: 2, Nemesis: []string{"restart-delayed"}}, 22923)
	if len(p.Own) > 0 || !slices.Contains(p.Faulted, checker.LeaseHonoured) {
		t.Errorf("%+v; want lease honoured as broken after a fault of a server", p)
	}
}
