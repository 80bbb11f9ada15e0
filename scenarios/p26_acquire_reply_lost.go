package scenarios

import (
	"github.com/lockbench/lockbench/checker"
	w "github.com/lockbench/lockbench/workloads"
)

func acquireReplyLost() Scenario {
	return Scenario{
		ID:     "P26",
		Name:   "acquire-reply-lost",
		Title:  "the reply to SET NX gets lost, and the client sends it again",
		Source: "D, go-redis#2985",
		Why: "The server had set A's key, and only its answer got lost. The client sent the same SET NX once more, unasked, and it met A's own key: A was told that " +
			"somebody else has the lock. Nobody has it, nobody will release it, and everybody is refused until the TTL has passed.",
		Script: w.Script{Cast: 2, Steps: []w.Step{
			w.AcquireReplyLost("A"),
			w.Acquire("B"),
			w.Read("A"),
			w.Write("A"),
			w.Release("A"),
			w.AcquireEventually("B"),
			w.Read("B"),
			w.Write("B"),
			w.Release("B"),
		}},
		TTL: virtualTTL, RealTTL: majorityWaitedFor,
		Cases: []Case{
			{Lock: "setnx-px-lua-resend", Want: checker.Expectation{
				checker.TruthfulReplies: checker.Fail,
			}},
			{
				Lock: "bsm-redislock-resend",
				Note: "The acquire is a script that knows its own token: sent again, it took its own key over, and A has the lock.",
			},
			{
				Lock: "setnx-px-lua",
				Note: "The client sends nothing again, and says that it does not know. The key stays until its TTL has passed, which is what a lease is for.",
			},
			{Lock: "redlock"},
		},
	}
}
