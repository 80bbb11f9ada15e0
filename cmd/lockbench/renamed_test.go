package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/scenarios"
)

// namings are where a worker keeps a lock, and whether it says so.
func namings() [][]string {
	return [][]string{
		{"--key-prefix", "lock:"},
		{"--hash-tag"},
		{"--database", "3"},
		{"--key-prefix", "app:", "--hash-tag", "--database", "5"},
		{"--key-prefix", "app:", "--database", "2", "--silent"},
	}
}

// naming is that of the i-th lock of the catalogue. Locks for readers and writers are put on a Redis
// Cluster, too, which has one database; and what breaks there because its keys have no hash tag in
// common would not with one.
func naming(i int, lock locks.Spec) []string {
	if all := namings(); !lock.ReadWrite {
		return all[i%len(all)]
	}
	return namings()[0]
}

// byChance are findings that depend on which of two messages on real servers is the faster one,
// by lock and scenario, and why.
func byChance() map[string]string {
	const (
		given = "a twentieth of a TTL after it began rueidislock gives an acquire up, and on a busy machine the messages of the step take about as long"
		stays = "the library keeps a connection to the old master, a replica by then, for as long as that does not break"
		told  = "the holder hears of its loss when the server goes on, which is when the other is granted the lock"
		sent  = "a SET that is on its way when an acquire is refused lands before the clean-up or after it"
	)
	chance := map[string]string{
		"redsync-fail-fast": sent,
		"exists-set":        "two clients look before either sets, or not",
		// Entries are clients, and the waiting threads are one client: both are let in.
		"rw-hash-client-id P60": "whether one thread's release comes before the other's grant or after it",
	}
	for id, why := range map[string]string{"P18": stays, "P34": given, "P35": given, "P36": given, "P58": told, "P61": given} {
		chance["rueidislock "+id], chance["rueidislock-px "+id] = why, why
	}
	return chance
}

// TestRenamedLocksAtTheGate checks that the gate finds the same in a lock of the catalogue as in
// the same lock behind a worker that keeps it elsewhere. At night it does so with every lock and
// every scenario, and logs a table.
func TestRenamedLocksAtTheGate(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	some := map[string]string{"setnx-px-del": "P02,P07,P26,P58,P62,P81", "setnx-px-watch-shared": "P59"}
	lockbench := filepath.Join(t.TempDir(), "lockbench") // by its name the test binary is the program
	me, err := os.Executable()
	if err == nil {
		err = os.Symlink(me, lockbench)
	}
	if err != nil {
		t.Fatal(err)
	}
	var compared atomic.Int64
	gates := make(chan struct{}, 2) // a gate is wide by itself
	t.Run("all", func(t *testing.T) {
		for i, lock := range libraries.Catalogue() {
			var only []string
			if !effort.Nightly() {
				if some[lock.Name] == "" {
					continue
				}
				only = []string{"--only", some[lock.Name]}
			}
			t.Run(lock.Name, func(t *testing.T) {
				t.Parallel()
				gates <- struct{}{}
				defer func() { <-gates }()
				compared.Add(sameAtTheGate(t, lock, lockbench, naming(i, lock), only))
			})
		}
	})
	if compared.Load() < 5 {
		t.Errorf("%d rows were compared, too few to say anything", compared.Load())
	}
}

// sameAtTheGate plays a lock on real servers without a worker and with one that keeps it elsewhere,
// and returns how many rows it compared.
func sameAtTheGate(t *testing.T, lock locks.Spec, lockbench string, naming, only []string) int64 {
	t.Helper()
	named := strings.Join(naming, " ")
	renamed := append([]string{"--worker", lockbench + " worker " + named}, only...)
	plain, behind := atTheGate(t, lock, only), atTheGate(t, lock, renamed)
	var differ []string
	for id, got := range behind.found {
		if want, ok := plain.found[id]; ok && want != got {
			differ = append(differ, id)
		}
	}
	slices.Sort(differ)
	// What a busy machine did by chance it does not do each time.
	for again := 0; again < 3 && len(differ) > 0; again++ {
		retry := []string{"--only", strings.Join(differ, ","), "--jobs", "1"}
		plain.replace(atTheGate(t, lock, retry))
		behind.replace(atTheGate(t, lock, append(retry, renamed[:2]...)))
		differ = slices.DeleteFunc(differ, func(id string) bool { return plain.found[id] == behind.found[id] })
	}
	t.Logf("%-28s %-48s %2d rows, %d differ, not played: %s", lock.Name, named, len(behind.found), len(differ), strings.Join(behind.left(plain), " "))
	for _, id := range differ {
		report := t.Errorf
		if chance := byChance(); chance[lock.Name] != "" || chance[lock.Name+" "+id] != "" {
			report = t.Logf
		}
		report("%s, %s: %s, and with a worker %s: %s", lock.Name, id, plain.found[id], named, behind.found[id])
	}
	for _, id := range behind.left(plain) {
		if why := cannotPlay(id); why == "" {
			t.Errorf("%s, %s is played without a worker and not with one: %s", lock.Name, id, behind.gaps[id])
		}
	}
	return int64(len(behind.found))
}

// cannotPlay is why a scenario is not played with workers, or empty.
func cannotPlay(id string) string {
	for _, s := range scenarios.All() {
		if s.ID == id && s.InProcess != "" {
			return s.InProcess
		}
	}
	return ""
}

// seenAtTheGate is what the gate says of a lock, by scenario: what became of it, what is the
// lock's own fault and what no lock of its class keeps; or why it was not played.
type seenAtTheGate struct{ found, gaps map[string]string }

func (s seenAtTheGate) replace(o seenAtTheGate) {
	for id, what := range o.found {
		s.found[id] = what
	}
}

// left are the scenarios that o played and s did not.
func (s seenAtTheGate) left(o seenAtTheGate) []string {
	var all []string
	for id := range o.found {
		if _, ok := s.found[id]; !ok {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// atTheGate plays a lock on real servers.
func atTheGate(t *testing.T, lock locks.Spec, args []string) seenAtTheGate {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gate.json")
	args = append([]string{"gate", "--backend", "process", "--lock", lock.Name, "--json", file}, args...)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	res, err := gate.Read(file)
	if err != nil || !res.Whole() {
		t.Fatalf("%q: exit code %d, %v\n%s%s", args, code, err, stdout.Bytes(), stderr.Bytes())
	}
	seen := seenAtTheGate{found: map[string]string{}, gaps: map[string]string{}}
	for _, g := range res.Gaps {
		seen.gaps[g.ID] = g.Reason
	}
	for _, row := range res.Rows {
		seen.found[row.ID] = fmt.Sprintf("%s, own faults %v, unavoidable %v", row.Outcome, failed(row.Findings()), failed(row.Unavoidable()))
	}
	return seen
}

func failed(findings []gate.Finding) []checker.Property {
	var all []checker.Property
	for _, f := range findings {
		if f.Got == checker.Fail {
			all = append(all, f.Property)
		}
	}
	slices.Sort(all)
	return all
}
