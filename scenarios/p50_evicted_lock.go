package scenarios

import (
	"maps"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/resource"
	w "github.com/lockbench/lockbench/workloads"
)

func evictedLock() Scenario {
	lost, saved, forgetful := forgotten()
	return Scenario{
		ID:     "P50",
		Name:   "evicted-lock",
		Title:  "the server runs out of memory and throws the lock away",
		Source: "R",
		Why: "The server had maxmemory and an allkeys policy, as caches have. When its memory was full it evicted what it could, and the " +
			"lock is a key like any other: A still held it when B was granted it. A server that keeps locks needs noeviction.",
		Gaps: notOwnServers("fills the memory of a server"),
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.Acquire("A"),
			w.Read("A"),
			w.KeysEvicted(0),
			w.Acquire("B"),
			w.Read("B"),
			w.Write("B"),
			w.Write("A"),
			w.Release("A"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: unhurriedly,
		Cases: []Case{
			{Lock: "setnx-px-lua", Want: lost},
			{Lock: "redlock", Note: "One server of five evicted its keys: A had the other four, so B got no majority."},
			{Lock: "reentrant-hash", Want: lost},
			{Lock: "fenced", Want: forgetful},
			{Lock: "setnx-px-lua", Guard: resource.Epoch, Want: saved, Note: epochSaved},
			{
				Lock: "setnx-px-lua", Remedy: "noeviction",
				Note: "The server refused B's SET for want of memory and kept A's key.",
			},
		},
		Remedies: []Remedy{{
			Name:  "noeviction",
			Title: "the server runs out of memory and refuses writes (maxmemory-policy noeviction)",
			Script: w.Script{Cast: 2, Steps: []w.Step{
				w.Acquire("A"),
				w.Read("A"),
				w.MemoryFull(0),
				w.Acquire("B"),
				w.Read("B"),
				w.Write("B"),
				w.Write("A"),
				w.Release("A"),
				w.MemoryFreed(0),
				w.Acquire("B"),
				w.Read("B"),
				w.Write("B"),
				w.Release("B"),
			}},
		}},
	}
}

const epochSaved = "Two held the lock. What the epoch saves is the resource: it had let B's section begin and refused A's write."

// forgotten is what is expected where the server has forgotten the lock: of locks in general,
// of those whose resource is saved, and of those that have lost their counter of tokens too.
func forgotten() (lost, saved, forgetful checker.Expectation) {
	lost = checker.Expectation{
		checker.StrictExclusion: checker.Fail,
		checker.LeaseExclusion:  checker.Fail,
		checker.LeaseHonoured:   checker.Fail,
		checker.ResourceSafety:  checker.Fail,
	}
	saved = maps.Clone(lost)
	delete(saved, checker.ResourceSafety)
	forgetful = maps.Clone(lost)
	forgetful[checker.Fencing] = checker.Fail
	return lost, saved, forgetful
}
