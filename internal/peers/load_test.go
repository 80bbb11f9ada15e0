package peers_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/peers"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

// TestMeasure: under the same load and faults a lock is accused of what its peers keep, and of
// nothing that they do not.
func TestMeasure(t *testing.T) {
	effort.Long(t)
	for _, tt := range []struct {
		lock, nemesis string
		workload      string
		own           checker.Property // among others; empty: none
		unavoidable   checker.Property
	}{
		{"setnx-px-lua", "pause", "contend", "", checker.ResourceSafety},
		{"setnx-px-del", "pause", "contend", checker.Ownership, ""},
		{"setnx-px-watch", "duplicate", "lottery", "", checker.TruthfulReplies},
		{"setnx-px-lua", "restart", "contend", "", checker.LeaseHonoured},
		{"extend-unchecked", "pause", "contend", checker.TruthfulReplies, ""},
	} {
		t.Run(tt.lock+" "+tt.nemesis, func(t *testing.T) {
			t.Parallel()
			p := measured(t, tt.lock, harness.Load{Workload: tt.workload, Clients: 2, Limit: 30 * time.Second, Nemesis: []string{tt.nemesis}}, cmp.Or(tt.own, tt.unavoidable))
			if tt.unavoidable != "" && !slices.Contains(p.Unavoidable, tt.unavoidable) {
				t.Errorf("unavoidable is %v, want %s among them", p.Unavoidable, tt.unavoidable)
			}
			own := slices.ContainsFunc(p.Own, func(o checker.OwnFault) bool { return o.Property == tt.own })
			if own != (tt.own != "") || tt.own == "" && len(p.Own) > 0 {
				t.Errorf("own faults are %v, want %q", p.Own, tt.own)
			}
		})
	}
}

// measured is what the peers of a lock say of the first run that breaks a property.
func measured(t *testing.T, lock string, load harness.Load, property checker.Property) checker.Peers {
	t.Helper()
	spec, err := libraries.Catalogue().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := harness.ForWorkload(load, spec, resource.None, harness.Embedded(), 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Peers = (&peers.Load{Load: load, TTL: cfg.TTL, Seeds: 10}).Measure
	for cfg.Seed = 1; cfg.Seed <= 10; cfg.Seed++ {
		res, err := harness.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if res.Report.Result(property).Verdict == checker.Fail {
			return *res.Peers
		}
	}
	t.Fatalf("%s keeps %s under %v with ten seeds", lock, property, load.Nemesis)
	return checker.Peers{}
}

// TestMeasureAlone: a lock without references is asked for everything.
func TestMeasureAlone(t *testing.T) {
	spec, err := libraries.Catalogue().Find("setnx-px-lua")
	if err != nil {
		t.Fatal(err)
	}
	load := &peers.Load{Locks: []locks.Spec{spec}}
	p, err := load.Measure(t.Context(), harness.Config{Test: harness.Test{Lock: spec}}, []checker.Judged{
		{Property: checker.Ownership, Want: checker.Pass, Got: checker.Fail},
		{Property: checker.Availability, Want: checker.Pass, Got: checker.Unknown},
		{Property: checker.StrictExclusion, Want: checker.NotApplicable, Got: checker.Fail, Met: true},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.References) != 0 || len(p.Unavoidable) != 0 || len(p.Own) != 1 || p.Own[0].Property != checker.Ownership {
		t.Errorf("%+v, want ownership alone as its own fault, and no references", p)
	}
}
