package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// variant is a lock of testdata/variants.py and what the gate must find in it.
type variant struct {
	name string
	only string // the scenarios that show it, at least
	// cause is the first that the head line of the page tells if the lock is broken; empty: it
	// is sound.
	cause string
	often bool // it is played for every change, and not at night alone
}

// variants are sound locks and broken ones, as they are written by people who have not seen
// lockbench.
func variants() []variant {
	return append([]variant{
		{name: "evalsha-first", only: "P02,P07,P26,P57", often: true},
		{name: "pttl-first", only: "P02,P03,P07"},
		{name: "get-first", only: "P02,P03,P07"},
		{name: "waiting", only: "P01,P07,P47,P83"},
		{name: "jitter", only: "P01,P07,P47,P83"},
		{name: "watchdog", only: "P01,P34,P38,P39"},
		{name: "tolerance", only: "P01,P68,P70"},
		{name: "client-setinfo", only: "P01,P07,P58"},
		{name: "hash-tag", only: "P01,P07,P08"},
		{name: "other-database", only: "P07,P08,P58", often: true},
		{name: "watch-multi", only: "P07,P08,P09,P10"},
		{name: "fenced", only: "P11,P16,P76,P77,P78"},
	}, brokenVariants()...)
}

func brokenVariants() []variant {
	const (
		deleted     = `[AB]'s release deleted a key that was [ABC]'s: `
		wrote       = `[AB]'s acquire wrote over a key that was [AB]'s, and was granted: SET `
		noExpiry    = `A's acquire set the key without a time to live, and `
		changedNone = ` at event \d+ said that it was done, and had changed nothing: `
	)
	return []variant{
		{name: "bare-del", only: "P07", cause: deleted + `DEL `, often: true},
		{name: "get-del", only: "P08", cause: deleted + `DEL `},
		{name: "no-nx", only: "P03", cause: wrote},
		{name: "no-expiry", only: "P01", cause: noExpiry},
		{name: "setnx-then-expire", only: "P02", cause: noExpiry + `.*: SETNX `},
		{name: "get-then-set", only: "P03", cause: wrote},
		{name: "unchecked-extend", only: "P69", cause: `A's extend gave a key that was B's a new time to live: PEXPIRE `},
		{name: "always-true", only: "P62", cause: `[AB]'s release` + changedNone + `EVAL`, often: true},
		{name: "one-token", only: "P07", cause: deleted + `EVAL .* with the same token`},
		{name: "milliseconds-as-seconds", only: "P01", cause: `A asked for a lease of 4s, and its key was given 1h6m40s: SET .* EX 4000`},
		{name: "fail-open", only: "P85", cause: `B's acquire at event \d+ was accepted, and had sent no command to a server \(partition B`},
		{name: "error-is-taken", only: "P26", cause: `A's acquire was refused at event \d+, and its own command had taken the key: SET .*, an answer that got lost`},
		{name: "releases-elsewhere", only: "P10", cause: `A's release at event \d+ was accepted, and none of its commands was on the lock's key, lock:orders/42: EVAL `},
		{name: "other-database-release", only: "P10", cause: `A's release at event \d+ was accepted, and it had asked database 1, and the lock is in database 0: EVAL `},
		{name: "extend-recreates", only: "P68,P69", cause: `A's extend (wrote over a key that was B's, and was accepted|was accepted at event \d+, when its key had ended at .*, and set it anew): SET `},
		{name: "minute-longer", only: "P01", cause: `A asked for a lease of 4s, and its key was given 1m4s: SET `},
		{name: "evalsha-only", only: "P57", cause: `B's release at event \d+ was accepted, and master had answered it with an error: EVALSHA .* "NOSCRIPT`},
		{name: "sometimes-bare", only: "P80", cause: deleted + `DEL `},
		{name: "renewal-outlives", only: "P27", cause: `B had given the lock up at event \d+ \(release\), and its client went on to extend the key, which was A's by then: PEXPIRE `},
		{name: "renewal-recreates", only: "P07", cause: `A command that A sent (in the background|during its release) wrote over a key that was B's`},
		{name: "half-lease", only: "P74", cause: `[AB] asked for a lease of .*, and its key was given `},
		{name: "refused-prolongs", only: "P01", cause: `[BC]'s acquire was refused at event \d+, and gave the key, which was A's, a new time to live: PEXPIRE `},
		{name: "retries", only: "P26", cause: `A's acquire was refused at event \d+ because of its own key`},
		{name: "spin", only: "P47", cause: `[BCD] sent \d+ commands in one wait of `},
		{name: "wait-falls-through", only: "P83", cause: `B's acquire` + changedNone + `SET `},
		{name: "extend-unheard", only: "P72", cause: `A's extend at event \d+ was accepted, and had sent no command to a server \(partition A`},
		{name: "impatient", only: "P79", cause: `B's acquire deleted a key that was A's: DEL `},
		{name: "short-token", only: "P80", cause: deleted + `EVAL .* with the same token`},
		{name: "lingers", only: "P01", cause: `[AB]'s release was accepted at event \d+, and the key was given 15s more: EVAL `},
		{name: "fence-per-client", only: "P77", cause: `[AB] was given token `},
	}
}

// TestVariants puts locks through the gate that it has never seen: the sound ones pass, and of
// each broken one the head line says what is wrong.
func TestVariants(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	python := locktest.NeedPythonRedis(t)
	script, err := filepath.Abs("testdata/variants.py")
	if err != nil {
		t.Fatal(err)
	}
	gates := make(chan struct{}, 2) // a gate is wide by itself
	for _, v := range variants() {
		if !v.often && !effort.Nightly() {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			gates <- struct{}{}
			defer func() { <-gates }()
			args := []string{"gate", "--backend", "process", "--worker", python + " " + script + " " + v.name}
			if !effort.Nightly() {
				args = append(args, "--only", v.only)
			}
			var stdout, stderr bytes.Buffer
			code, want, head := run(t.Context(), args, &stdout, &stderr), exitExpected, ""
			if v.cause != "" {
				want, head = exitUnexpected, `^\d+ scenarios? fails?, \d+ causes?(, the nearest)?: `+v.cause
			}
			if code != want || !regexp.MustCompile(head).MatchString(headLine(stdout.String())) {
				t.Errorf("exit code %d, want %d and %q at the head:\n%s%s", code, want, head, stdout.Bytes(), stderr.Bytes())
			}
		})
	}
}

// headLine is the paragraph of a page that stands below its title.
func headLine(page string) string {
	paragraphs := strings.Split(page, "\n\n")
	if len(paragraphs) < 2 {
		return ""
	}
	return strings.Join(strings.Fields(paragraphs[1]), " ")
}
