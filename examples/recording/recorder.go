// Package recording records the calls of an application's own lock as a history that lockbench
// check reads. Copy this file; docs/recording.md tells how to use it.
package recording

import (
	"cmp"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// A Recorder writes one event per line. Now is a monotonic clock, such as that of time.Since.
type Recorder struct {
	Out          io.Writer
	Now          func() time.Duration
	mu           sync.Mutex
	index, calls int
}

// Do makes a call (what is acquire, extend or release) and records it. attempt is 0 for an acquire, and for
// the others what Do returned for it. The call says whether it was done; after an error nobody knows.
func (r *Recorder) Do(worker int, what, key string, attempt int, ttl time.Duration, call func() (bool, error)) (int, bool, error) {
	process := r.log("invoke", what, key, worker, -1, &attempt, ttl)
	done, err := call()
	outcome := map[bool]string{true: "ok", false: "fail"}[done]
	if err != nil {
		outcome = "info"
	}
	r.log(outcome, what, key, worker, process, &attempt, 0)
	return attempt, done, err
}

func (r *Recorder) log(outcome, what, key string, worker, process int, attempt *int, ttl time.Duration) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if process < 0 { // a call begins: it is a process of its own, and an acquire an attempt of its own
		process, r.calls = r.calls, r.calls+1
		*attempt = cmp.Or(*attempt, r.calls)
	}
	_ = json.NewEncoder(r.Out).Encode(map[string]any{ // a lost line shows as a gap in the index
		"index": r.index, "time": r.Now(), "process": process, "worker": worker, "type": outcome, "f": what, "key": key, "attempt": *attempt, "ttl": ttl,
	})
	r.index++
	return process
}
