package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locks"
	w "github.com/lockbench/lockbench/workloads"
)

func reentrantResend() Scenario {
	return Scenario{
		ID:     "P33",
		Name:   "reentrant-resend",
		Title:  "the reply to an acquire gets lost, and the command is sent again",
		Source: "redisson#7367",
		Why: "The server cannot tell a command that is sent again from a re-entry. A acquired once and was counted twice, so its release " +
			"left a count of 1. Every later use by A keeps that rest alive, and nobody else gets the lock.",
		Asks: locks.CountsOnce,
		Script: w.Script{Cast: 2, Reenters: true, Steps: []w.Step{
			w.AcquireResent("A"),
			w.Reenter("A"),
			w.AskCount("A"),
			w.AcquireReentrant("B"),
			w.Release("A"),
			w.Read("A"),
			w.Write("A"),
			w.Release("A"),
			w.UseAgain("A", 1.5),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: waitedFor,
		Cases: []Case{
			{Lock: "reentrant-hash", Want: checker.Expectation{
				checker.Reentrancy:   checker.Fail,
				checker.Availability: checker.Fail,
			}, Note: "The TTL bounds it: a TTL after A's last use the lock is free again, and so it is not stuck for ever."},
			{Lock: "reentrant-hash-once"},
		},
	}
}
