package certify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/certificate"
	"github.com/lockbench/lockbench/certificate/certify"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

var update = flag.Bool("update", false, "write the vectors of package certificate again")

// TestVectorsAreCertificates: the vectors that a verifier must accept are what is written of their
// histories, and those that it must reject are made from them by one change each. Together they have a
// pass and a fail of every rule.
func TestVectorsAreCertificates(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/*")
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d directories, %v", len(dirs), err)
	}
	proven := make(map[string]bool)
	var other certificate.Certificate
	for _, dir := range dirs {
		history, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		opt := options(t, filepath.Join(dir, "options.json"))
		events, err := histories.ReadJSONL(bytes.NewReader(history), dir)
		if err != nil {
			t.Fatal(err)
		}
		report := checker.Check(t.Context(), events, opt)
		c, err := certify.Certify(bytes.NewReader(history), report, certify.Terms(opt))
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		text := vector(t, filepath.Join(dir, "accept.json"), c)
		if len(proven) == 0 { // once is enough
			kept(t, filepath.Join(dir, "no-cut.json"), text[:len(text)/2])
			kept(t, filepath.Join(dir, "no-schema.json"), bytes.Replace(text, []byte(`"schema": `), []byte(`"schema": 9`), 1))
			kept(t, filepath.Join(dir, "no-unknown-field.json"), bytes.Replace(text, []byte(`{`), []byte(`{"more": 1,`), 1))
		}
		for name, c := range changed(t, c, proven) {
			vector(t, filepath.Join(dir, "reject-"+name+".json"), c)
		}
		if other.Schema > 0 && len(proven) < 10 {
			vector(t, filepath.Join(dir, "foreign.json"), other)
		}
		other = c
		for _, v := range c.Proven {
			proven[v.Rule+" "+v.Verdict] = true
		}
	}
	for _, p := range rules() {
		for _, verdict := range []string{certificate.Pass, certificate.Fail} {
			if !proven[string(p)+" "+verdict] {
				t.Errorf("no vector proves a %s of %s", verdict, p)
			}
		}
	}
}

func rules() []checker.Property {
	return []checker.Property{
		checker.StrictExclusion, checker.LeaseExclusion, checker.LeaseHonoured, checker.Ownership, checker.TruthfulReplies, checker.ResourceSafety,
		checker.Fencing, checker.CounterSafety, checker.SingleWinner, checker.Reentrancy, checker.DeadlockFreedom, checker.Availability,
		checker.Fairness, checker.Load,
	}
}

// options are what the history of a vector is judged by; the zero Options if the file is not there.
func options(t testing.TB, file string) (opt checker.Options) {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return opt
	}
	if err == nil {
		err = json.Unmarshal(text, &opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

// vector compares a file with a certificate, or writes it, and returns its text.
func vector(t *testing.T, file string, c certificate.Certificate) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := certificate.Write(&text, c); err != nil {
		t.Fatal(err)
	}
	kept(t, file, text.Bytes())
	return text.Bytes()
}

func kept(t *testing.T, file string, text []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // everybody may read it
			t.Fatal(err)
		}
		return
	}
	if found, err := os.ReadFile(file); err != nil || !bytes.Equal(found, text) {
		t.Errorf("%s is not what is written now (%v); go test ./certificate/certify -run TestVectorsAreCertificates -update", file, err)
	}
}

// changed are certificates that are to be rejected, by what was changed of c; of rules of which there are
// none yet.
func changed(t *testing.T, c certificate.Certificate, proven map[string]bool) map[string]certificate.Certificate {
	t.Helper()
	all := make(map[string]certificate.Certificate)
	change := func(name string, edit func(*certificate.Certificate)) {
		other := copied(t, c)
		edit(&other)
		all[name] = other
	}
	for i, v := range c.Proven {
		if v.Verdict == certificate.Pass || proven[v.Rule+" "+v.Verdict] {
			continue
		}
		change("pass-of-"+v.Rule, func(c *certificate.Certificate) {
			c.Proven[i] = certificate.Verdict{Rule: v.Rule, Verdict: certificate.Pass, Proof: certificate.BySearch}
		})
		change("event-of-"+v.Rule, func(c *certificate.Certificate) { c.Proven[i].Events[0].Index++ })
		if len(v.Bounds) > 0 {
			change("bound-of-"+v.Rule, func(c *certificate.Certificate) { c.Proven[i].Bounds[0].High++ })
		}
		if len(all) > 3 {
			continue // once is enough
		}
		change("attempt", func(c *certificate.Certificate) { c.Proven[i].Attempts = append(c.Proven[i].Attempts, 9999) })
		change("offset", func(c *certificate.Certificate) { c.Proven[i].Events[0].Offset++ })
		change("hash", func(c *certificate.Certificate) { c.Proven[i].Events[0].SHA256 = c.History.SHA256 })
		change("size", func(c *certificate.Certificate) { c.History.Bytes++ })
	}
	if len(c.Explanations) > 0 && !proven["ownership pass"] {
		change("cut-explanation", func(c *certificate.Certificate) {
			e := &c.Explanations[0]
			e.Effects = e.Effects[:len(e.Effects)-1]
		})
		change("no-explanation", func(c *certificate.Certificate) { c.Explanations = nil })
	}
	return all
}

func copied(t *testing.T, c certificate.Certificate) (other certificate.Certificate) {
	t.Helper()
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &other)
	}
	if err != nil {
		t.Fatal(err)
	}
	return other
}
