package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lockbench/lockbench/effort"
	"github.com/lockbench/lockbench/locks/locktest"
)

// variant is a lock of testdata/variants.py and what the gate must find in it.
type variant struct {
	name string
	only string // the scenarios that show it, at least
	// cause is what the page says if the lock is broken; empty: it is sound.
	cause string
	often bool // it is played for every change, and not at night alone
}

// variants are sound locks and broken ones, as they are written by people who have not seen
// lockbench.
func variants() []variant {
	return []variant{
		{name: "evalsha-first", only: "P02,P07,P26,P57", often: true},
		{name: "pttl-first", only: "P02,P03,P07"},
		{name: "get-first", only: "P02,P03,P07"},
		{name: "waiting", only: "P01,P07"},
		{name: "jitter", only: "P01,P07"},
		{name: "watchdog", only: "P01,P34,P38,P39", often: true},
		{name: "client-setinfo", only: "P01,P07"},
		{name: "hash-tag", only: "P01,P07,P08", often: true},
		{name: "other-database", only: "P01,P07,P08", often: true},

		{name: "bare-del", only: "P07", cause: `release deleted a key that was .*: DEL `, often: true},
		{name: "get-del", only: "P08", cause: `release deleted a key that was `},
		{name: "no-nx", only: "P03", cause: `wrote over a key that was `},
		{name: "no-expiry", only: "P01", cause: `without a time to live`},
		{name: "setnx-then-expire", only: "P02", cause: `without a time to live`},
		{name: "get-then-set", only: "P03", cause: `wrote over a key that was `},
		{name: "unchecked-extend", only: "P69", cause: `extend gave a key that was .* a new time to live`, often: true},
		{name: "always-true", only: "P62", cause: `release at event \d+ said that it was done, and had changed nothing`, often: true},
		{name: "one-token", only: "P07", cause: `release deleted a key that was `},
		{name: "milliseconds-as-seconds", only: "P01", cause: `P01 .* violated: deadlock freedom`},
		{name: "error-is-taken", only: "P26", cause: `A was told .* that orders/42 is taken, when nobody else can have had it`},
		{name: "releases-elsewhere", only: "P10", cause: `P10 .* violated: truthful replies|was told .* that orders/42 is taken`},
		{name: "other-database-release", only: "P10", cause: `P10 .* violated: truthful replies|was told .* that orders/42 is taken`},
		{name: "extend-recreates", only: "P68", cause: `what was lost was brought back`},
		{name: "minute-longer", only: "P01", cause: `P01 .* violated: deadlock freedom`},
		{name: "renewal-recreates", only: "P37,P62,P67", cause: `violated: .*(ownership|mutual exclusion)`},
		{name: "evalsha-only", only: "P57", cause: `P57 .* violated: availability`},
	}
}

// TestVariants puts locks through the gate that it has never seen: the sound ones pass, and of
// each broken one it says what is wrong.
func TestVariants(t *testing.T) {
	effort.Real(t)
	locktest.NeedRedis(t)
	python := locktest.NeedPythonRedis(t)
	script, err := filepath.Abs("testdata/variants.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variants() {
		if !v.often && !effort.Nightly() {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			args := []string{"gate", "--backend", "process", "--worker", python + " " + script + " " + v.name}
			if !effort.Nightly() {
				args = append(args, "--only", v.only)
			}
			var stdout, stderr bytes.Buffer
			code, want := run(t.Context(), args, &stdout, &stderr), exitExpected
			if v.cause != "" {
				want = exitUnexpected
			}
			page := regexp.MustCompile(`\s+`).ReplaceAll(stdout.Bytes(), []byte(" "))
			if v.cause != "" {
				v.cause = `scenarios? fails?, \d+ causes?: [^.]*` + v.cause // of the head line, not of what stands below
			}
			if code != want || !regexp.MustCompile(v.cause).Match(page) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, want, v.cause, stdout.Bytes(), stderr.Bytes())
			}
		})
	}
}
