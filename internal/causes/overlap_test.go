package causes_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/causes"
)

// TestOverlap: a release deletes a key that was made by a command which was sent after its own, and executed before.
func TestOverlap(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	var run causes.Run
	add := func(at, worker int, typ histories.Type, f histories.F, attempt uint64) {
		e := histories.Event{Index: len(run.Events), Time: ms(at), Process: worker, Worker: worker, Type: typ, F: f, Key: "k", Attempt: attempt}
		if f == histories.Acquire {
			e.TTL = time.Second
		}
		run.Events = append(run.Events, e)
	}
	send := func(sent, replied int, client string, words []string, reply string) {
		x := histories.Exchange{Sent: ms(sent), Replied: ms(replied), Client: client, Node: "master", Conn: 1, Seq: len(run.Exchanges) + 1, Words: words, Reply: reply}
		run.Exchanges = append(run.Exchanges, x)
	}
	add(1, 0, histories.Invoke, histories.Acquire, 1)
	send(2, 3, "A", []string{"SET", "k", "a", "NX", "PX", "1000"}, "OK")
	add(4, 0, histories.OK, histories.Acquire, 1)
	add(10, 0, histories.Invoke, histories.Release, 1)
	send(11, 12, "A", []string{"DEL", "k"}, "1")
	add(13, 0, histories.OK, histories.Release, 1)
	add(20, 0, histories.Invoke, histories.Release, 1)
	send(21, 29, "A", []string{"DEL", "k"}, "1")
	add(22, 1, histories.Invoke, histories.Acquire, 2)
	send(23, 25, "B", []string{"SET", "k", "b", "NX", "PX", "1000"}, "OK")
	add(26, 1, histories.OK, histories.Acquire, 2)
	add(30, 0, histories.OK, histories.Release, 1)
	add(31, 2, histories.Invoke, histories.Acquire, 3)
	send(32, 33, "C", []string{"SET", "k", "c", "NX", "PX", "1000"}, "OK")
	add(34, 2, histories.OK, histories.Acquire, 3)
	run.Names = func(key string) []string { return []string{key} }
	run.Masters = 1
	run.Report = checker.Check(t.Context(), run.Events, checker.Options{})
	found := causes.Of(run)
	if run.Report.Verdict != checker.Fail || len(found) == 0 {
		t.Errorf("verdict %v, causes %v; want a failure, and what explains it", run.Report.Verdict, found)
	}
	for _, c := range found {
		t.Log(c.Sentence)
	}
}
