package checker

import (
	"bytes"
	"testing"

	"github.com/lockbench/lockbench/histories"
)

// modelScenarios are histories of other data types than a Redis lock, as Jepsen tests them, each
// with its twin that holds. They are kept in testdata beside the others.
var modelScenarios = []struct {
	file    string
	history string
}{
	{"register-ok-late-write", `
		0 :invoke :write 1
		0 :info :write 1
		1 :invoke :read nil
		1 :ok :read nil
		1 :invoke :read nil
		1 :ok :read 1`},
	{"register-bad-stale-read", `
		0 :invoke :write 1
		0 :ok :write 1
		1 :invoke :cas [1 2]
		1 :ok :cas [1 2]
		0 :invoke :read nil
		0 :ok :read 1`},
	{"counter-ok-concurrent-add", `
		0 :invoke :add 3
		1 :invoke :read nil
		1 :ok :read 3
		0 :ok :add 3`},
	{"counter-bad-lost-add", `
		0 :invoke :add 3
		0 :ok :add 3
		1 :invoke :add 2
		1 :ok :add 2
		0 :invoke :read nil
		0 :ok :read 3`},
	{"mutex-ok-anybody-releases", `
		0 :invoke :acquire nil
		0 :ok :acquire nil
		1 :invoke :release nil
		1 :ok :release nil
		1 :invoke :acquire nil
		1 :ok :acquire nil`},
	{"mutex-bad-held-twice", `
		0 :invoke :acquire nil
		0 :ok :acquire nil
		1 :invoke :acquire nil
		1 :ok :acquire nil`},
	{"owner-mutex-ok-turns", `
		0 :invoke :acquire nil
		0 :ok :acquire nil
		1 :invoke :acquire nil
		1 :fail :acquire nil
		0 :invoke :release nil
		1 :invoke :acquire nil
		1 :ok :acquire nil
		0 :ok :release nil`},
	{"owner-mutex-bad-foreign-release", `
		0 :invoke :acquire nil
		0 :ok :acquire nil
		1 :invoke :release nil
		1 :ok :release nil`},
	{"reentrant-fenced-ok-nested", `
		0 :invoke :acquire nil
		0 :ok :acquire 5
		0 :invoke :acquire nil
		0 :ok :acquire 5
		0 :invoke :release nil
		0 :ok :release nil
		0 :invoke :release nil
		1 :invoke :acquire nil
		0 :ok :release nil
		1 :ok :acquire 6`},
	{"reentrant-fenced-bad-token-changes", `
		0 :invoke :acquire nil
		0 :ok :acquire 5
		0 :invoke :acquire nil
		0 :ok :acquire 6`},
	{"reentrant-fenced-raised-ok-nested", `
		0 :invoke :acquire nil
		0 :ok :acquire 5
		0 :invoke :acquire nil
		0 :ok :acquire 6
		0 :invoke :release nil
		0 :ok :release nil
		0 :invoke :release nil
		0 :ok :release nil
		1 :invoke :acquire nil
		1 :ok :acquire 7`},
	{"reentrant-fenced-raised-bad-token-goes-down", `
		0 :invoke :acquire nil
		0 :ok :acquire 5
		0 :invoke :release nil
		0 :ok :release nil
		1 :invoke :acquire nil
		1 :ok :acquire 4`},
	{"rwlock-ok-readers-share", `
		0 :invoke :acquire read
		0 :ok :acquire read
		1 :invoke :acquire read
		1 :ok :acquire read
		0 :invoke :release nil
		0 :ok :release nil
		2 :invoke :acquire write
		1 :invoke :release nil
		2 :ok :acquire write
		1 :ok :release nil`},
	{"rwlock-bad-writer-among-readers", `
		0 :invoke :acquire read
		0 :ok :acquire read
		1 :invoke :acquire read
		1 :ok :acquire read
		0 :invoke :release nil
		0 :ok :release nil
		2 :invoke :acquire write
		2 :ok :acquire write`},
	{"semaphore-2-ok-two-at-once", `
		0 :invoke :acquire nil
		0 :ok :acquire nil
		1 :invoke :acquire nil
		1 :ok :acquire nil
		0 :invoke :release nil
		2 :invoke :acquire nil
		2 :ok :acquire nil
		0 :info :release nil`},
	{"semaphore-2-bad-third-holder", `
		0 :invoke :acquire nil
		0 :ok :acquire nil
		1 :invoke :acquire nil
		1 :ok :acquire nil
		2 :invoke :acquire nil
		2 :ok :acquire nil`},
}

// TestModelScenarios writes the files that TestCorpus judges.
func TestModelScenarios(t *testing.T) {
	for _, s := range modelScenarios {
		t.Run(s.file, func(t *testing.T) {
			var file bytes.Buffer
			if err := histories.WriteJSONL(&file, logged(t, s.history)); err != nil {
				t.Fatal(err)
			}
			golden(t, s.file+".jsonl", file.Bytes())
		})
	}
}
