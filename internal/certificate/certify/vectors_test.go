package certify_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
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
		commands := wired(t, filepath.Join(dir, "commands.jsonl"), &opt)
		c, err := certify.Certify(bytes.NewReader(history), seeker(commands), checker.Check(t.Context(), events, opt), terms(opt, commands))
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if (c.Commands == nil) != (commands == nil) {
			t.Errorf("%s: commands are %v, and %d bytes beside it", dir, c.Commands, len(commands))
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
		for name, c := range doubtful(t, history, c) {
			vector(t, filepath.Join(dir, "reject-"+name+".json"), c)
		}
		if c.Commands != nil && !proven["foreign commands"] {
			proven["foreign commands"] = true
			c := copied(t, c)
			c.Commands.SHA256 = c.History.SHA256
			vector(t, filepath.Join(dir, "foreign-commands.json"), c)
		}
		if other.Schema > 0 && len(proven) < 10 {
			vector(t, filepath.Join(dir, "foreign.json"), other)
		}
		other = c
		for _, v := range c.Proven {
			proven[v.Rule+" "+v.Verdict] = true
			proven["by orders"] = proven["by orders"] || byOrders(v)
			if v.Proof == certificate.ByCommands {
				proven[v.Rule+" "+v.Verdict+" by commands"] = true
			}
		}
	}
	for _, verdict := range []string{"ownership pass", "ownership fail", "truthful-replies pass", "load fail"} {
		if !proven[verdict+" by commands"] {
			t.Errorf("no vector proves %s by commands", verdict)
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

// wired reads what crossed the wire, which the judges then know; nil if the file is not there.
func wired(t testing.TB, file string, opt *checker.Options) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []histories.Exchange
	if err == nil {
		all, err = histories.ReadExchanges(bytes.NewReader(text), file)
	}
	if err != nil {
		t.Fatal(err)
	}
	opt.Commands = checker.NewCommands(all, nil, "register")
	return text
}

// seeker reads what there is, or is nil.
func seeker(text []byte) io.ReadSeeker {
	if text == nil {
		return nil
	}
	return bytes.NewReader(text)
}

// terms are those of what was judged with commands, or without.
func terms(opt checker.Options, commands []byte) certificate.Terms {
	all := certify.Terms(opt)
	if commands != nil {
		all.Register = "register"
	}
	return all
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
		t.Errorf("%s is not what is written now (%v); go test ./internal/certificate/certify -run TestVectorsAreCertificates -update", file, err)
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
		if v.Verdict == certificate.Pass || proven[v.Rule+" "+v.Verdict] && (proven["by orders"] || !byOrders(v)) {
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
	for i, v := range c.Proven {
		if v.Proof != certificate.ByCommands || proven[v.Rule+" "+v.Verdict+" by commands"] {
			continue
		}
		change("by-search", func(c *certificate.Certificate) { c.Proven[i].Proof = certificate.BySearch })
		change("no-commands", func(c *certificate.Certificate) { c.Commands = nil })
		change("size-of-commands", func(c *certificate.Certificate) { c.Commands.Lines++ })
		if v.Rule == string(checker.Ownership) {
			change("kept-elsewhere", func(c *certificate.Certificate) {
				c.Terms.Kept = map[string][]histories.Place{"orders/42": {{Key: "elsewhere"}}}
			})
		}
		if len(v.Commands) > 0 {
			change("command", func(c *certificate.Certificate) { c.Proven[i].Commands[0].Index++ })
			change("no-command", func(c *certificate.Certificate) { c.Proven[i].Commands = nil })
			change("command-hash", func(c *certificate.Certificate) { c.Proven[i].Commands[0].SHA256 = c.History.SHA256 })
			change("command-offset", func(c *certificate.Certificate) { c.Proven[i].Commands[0].Offset++ })
		}
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

// byOrders reports whether a fail names all calls on a small key, as no order of them keeps the rule.
func byOrders(v certificate.Verdict) bool { return len(v.Events) > 0 && v.Events[0].Role == "call" }

// doubtful are certificates that are to be rejected, as what a rule finds on a small key is a doubt if an order of
// the calls explains it: on the terms of several masters, of which no key is small, it is a violation.
func doubtful(t *testing.T, history []byte, c certificate.Certificate) map[string]certificate.Certificate {
	t.Helper()
	terms := c.Terms
	terms.Masters = 2
	found, err := certificate.Examine(bytes.NewReader(history), terms)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]certificate.Certificate)
	for _, u := range c.Unproven {
		if u.Rule != string(checker.Ownership) {
			continue
		}
		for _, v := range found.Fails(u.Rule, certificate.BySearch, 1) {
			other := copied(t, c)
			lines := bytes.SplitAfter(history, []byte{'\n'})
			for i := range v.Events {
				e := &v.Events[i]
				sum := sha256.Sum256(bytes.TrimSuffix(lines[e.Index], []byte{'\n'}))
				e.Offset, e.SHA256 = int64(len(bytes.Join(lines[:e.Index], nil))), hex.EncodeToString(sum[:])
			}
			other.Proven = append(other.Proven, v)
			all["doubt-of-"+u.Rule] = other
			pass := copied(t, c)
			pass.Proven = append(pass.Proven, certificate.Verdict{Rule: u.Rule, Verdict: certificate.Pass, Proof: certificate.BySearch})
			all["pass-of-"+u.Rule] = pass
		}
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
