package certificate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
)

// script is a history of one key, one event per line: client, operation and type, then time in ms and
// what else there is. Each acquire is an attempt; what follows of its client is of that.
func script(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	var events []histories.Event
	attempts := make(map[int]uint64)
	last := uint64(0)
	retired := make(map[int]int) // how often, by worker
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var who, f, typ string
		var ms, ttl, token int64
		if n, err := fmt.Sscan(line, &who, &f, &typ, &ms, &ttl, &token); n < 4 {
			t.Fatalf("%q: %v", line, err)
		}
		worker := int(who[0] - 'A')
		e := histories.Event{Index: len(events), Time: time.Duration(ms) * time.Millisecond, Process: worker + 26*retired[worker], Worker: worker, F: histories.F(f), Key: "k"}
		if err := e.Type.UnmarshalText([]byte(typ)); err != nil {
			t.Fatal(err)
		}
		if e.F == histories.Acquire && e.Type == histories.Invoke {
			last++
			attempts[worker] = last
		}
		if e.Type == histories.Info && !e.Single() {
			retired[worker]++
		}
		e.Attempt, e.TTL, e.Token = attempts[worker], time.Duration(ttl)*time.Millisecond, token
		events = append(events, e)
	}
	if err := histories.Validate(events); err != nil {
		t.Fatal(err)
	}
	if err := histories.WriteJSONL(&out, events); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// subject is the history that a certificate is of.
func subject(history []byte) certificate.Subject {
	sum := sha256.Sum256(history)
	return certificate.Subject{Bytes: int64(len(history)), SHA256: hex.EncodeToString(sum[:]), Events: bytes.Count(history, []byte{'\n'})}
}

// effect is a call that takes effect at a time in ms; a refusal has a minus before its number, which counts from 1.
type effect struct{ call, ms, token int64 }

func explanation(effects []effect) certificate.Explanation {
	var w certificate.Effects
	for _, e := range effects {
		call := e.call
		if call < 0 {
			call = -call
		}
		w.Add(certificate.Effect{Call: call - 1, At: time.Duration(e.ms) * time.Millisecond, Done: e.call > 0, Token: e.token})
	}
	return w.Explanation("k")
}

const (
	turn = `
		A acquire invoke 0 1000
		A acquire ok 10
		B acquire invoke 20 1000
		B acquire fail 30
		A release invoke 40
		B acquire invoke 45 1000
		A release ok 50
		B acquire ok 60`
	expiry = `
		A acquire invoke 0 1000
		A acquire ok 10
		B acquire invoke 900 1000
		B acquire ok 1100
		A release invoke 1200
		A release fail 1210`
	surfaced = `
		A acquire invoke 0 1000
		A acquire info 10
		B acquire invoke 20 1000
		B acquire fail 30`
	tokens = `
		A acquire invoke 0 1000
		A acquire ok 10 0 5
		A release invoke 20
		A release ok 30
		B acquire invoke 40 1000
		B acquire ok 50 0 4`
)

// TestExplanations: an explanation is accepted if every call takes effect while it is under way, in an
// order in which each answer is what the key shows, and no lease is over before its time.
func TestExplanations(t *testing.T) {
	for _, c := range []struct {
		name, history string
		effects       []effect
		accepted      bool
	}{
		{"one after the other", turn, []effect{{1, 0, 0}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}}, true},
		{"as late as can be", turn, []effect{{1, 10, 0}, {-2, 30, 0}, {3, 50, 0}, {4, 60, 0}}, true},
		{"after its answer", turn, []effect{{1, 11, 0}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}}, false},
		{"before its invocation", turn, []effect{{1, 0, 0}, {-2, 19, 0}, {3, 40, 0}, {4, 45, 0}}, false},
		{"a call is left out", turn, []effect{{1, 0, 0}, {3, 40, 0}, {4, 45, 0}}, false},
		{"the last is left out", turn, []effect{{1, 0, 0}, {-2, 20, 0}, {3, 40, 0}}, false},
		{"one too many", turn, []effect{{1, 0, 0}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}, {5, 60, 0}}, false},
		{"twice", turn, []effect{{1, 0, 0}, {1, 0, 0}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}}, false},
		{"a refusal that grants", turn, []effect{{1, 0, 0}, {2, 20, 0}, {3, 40, 0}, {4, 45, 0}}, false},
		{"a grant that refuses", turn, []effect{{1, 0, 0}, {-2, 20, 0}, {3, 40, 0}, {-4, 45, 0}}, false},
		{"granted before the release", turn, []effect{{1, 0, 0}, {-2, 20, 0}, {4, 45, 0}, {3, 46, 0}}, false},
		{"refused before anybody had it", turn, []effect{{-2, 20, 0}, {1, 20, 0}, {3, 40, 0}, {4, 45, 0}}, false},
		{"a token that nobody got", turn, []effect{{1, 0, 1}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}}, false},

		{"the lease is over", expiry, []effect{{1, 0, 0}, {2, 988, 0}, {-3, 1200, 0}}, true},
		{"a moment too early", expiry, []effect{{1, 0, 0}, {2, 987, 0}, {-3, 1200, 0}}, false},
		{"the lease began later", expiry, []effect{{1, 5, 0}, {2, 988, 0}, {-3, 1200, 0}}, false},
		{"released what is another's", expiry, []effect{{1, 0, 0}, {2, 988, 0}, {3, 1200, 0}}, false},

		{"an unknown acquire had effect", surfaced, []effect{{1, 5, 0}, {-2, 20, 0}}, true},
		{"after nobody knew", surfaced, []effect{{1, 25, 0}, {-2, 25, 0}}, true},
		{"nobody had it", surfaced, []effect{{-2, 25, 0}}, false},

		{"the token goes down", tokens, []effect{{1, 0, 5}, {2, 20, 0}, {3, 40, 4}}, false},
		{"another token than it got", tokens, []effect{{1, 0, 5}, {2, 20, 0}, {3, 40, 6}}, false},
		{"no token", tokens, []effect{{1, 0, 5}, {2, 20, 0}, {3, 40, 0}}, false},
	} {
		history := script(t, c.history)
		err := certificate.Verify(bytes.NewReader(history), nil, certificate.Certificate{
			Schema: certificate.Schema, History: subject(history), Explanations: []certificate.Explanation{explanation(c.effects)},
			Proven: []certificate.Verdict{{Rule: "lease-honoured", Verdict: certificate.Pass, Proof: certificate.ByExplanation}},
		})
		if _, rejected := errors.AsType[*certificate.RejectedError](err); err != nil && !rejected || (err == nil) != c.accepted {
			t.Errorf("%s: %v, want it accepted: %v", c.name, err, c.accepted)
		}
	}
}

// TestExplanationAndVerify: an explanation tells nothing of what was answered to those who asked whether they still held the lock.
func TestExplanationAndVerify(t *testing.T) {
	for asked, accepted := range map[string]bool{"": true, "\n\t\tB verify invoke 70\n\t\tB verify ok 80": false} {
		history := script(t, turn+asked)
		err := certificate.Verify(bytes.NewReader(history), nil, certificate.Certificate{
			Schema: certificate.Schema, History: subject(history),
			Explanations: []certificate.Explanation{explanation([]effect{{1, 0, 0}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}})},
			Proven:       []certificate.Verdict{{Rule: "truthful-replies", Verdict: certificate.Pass, Proof: certificate.ByExplanation}},
		})
		if _, rejected := errors.AsType[*certificate.RejectedError](err); err != nil && !rejected || (err == nil) != accepted {
			t.Errorf("after%q: %v, want it accepted: %v", asked, err, accepted)
		}
	}
}

// TestExplanationOfEveryKey: a pass needs an explanation of each key, and a fail of the same rule beside
// it is a disagreement.
func TestExplanationOfEveryKey(t *testing.T) {
	history := script(t, turn)
	sound := explanation([]effect{{1, 0, 0}, {-2, 20, 0}, {3, 40, 0}, {4, 45, 0}})
	other := sound
	other.Key = "other"
	fail := certificate.Verdict{
		Rule: "lease-honoured", Verdict: certificate.Fail, Proof: certificate.BySearch, Key: "k", Attempts: []uint64{1, 2},
		Events: []certificate.Named{{Role: "held", Index: 1}, {Role: "granted", Index: 7}},
	}
	pass := certificate.Verdict{Rule: "ownership", Verdict: certificate.Pass, Proof: certificate.ByExplanation}
	for name, c := range map[string]certificate.Certificate{
		"none":              {Proven: []certificate.Verdict{pass}},
		"of another key":    {Proven: []certificate.Verdict{pass}, Explanations: []certificate.Explanation{other}},
		"of one key more":   {Proven: []certificate.Verdict{pass}, Explanations: []certificate.Explanation{sound, other}},
		"twice":             {Proven: []certificate.Verdict{pass}, Explanations: []certificate.Explanation{sound, sound}},
		"beside a fail":     {Proven: []certificate.Verdict{pass, fail}, Explanations: []certificate.Explanation{sound}},
		"of a fail":         {Proven: []certificate.Verdict{{Rule: "ownership", Verdict: certificate.Fail, Proof: certificate.ByExplanation}}, Explanations: []certificate.Explanation{sound}},
		"of another rule":   {Proven: []certificate.Verdict{{Rule: "availability", Verdict: certificate.Pass, Proof: certificate.ByExplanation}}, Explanations: []certificate.Explanation{sound}},
		"of one key alone":  {Proven: []certificate.Verdict{{Rule: "ownership", Verdict: certificate.Pass, Proof: certificate.ByExplanation, Key: "k"}}, Explanations: []certificate.Explanation{sound}},
		"with another size": {Proven: []certificate.Verdict{pass}, Explanations: []certificate.Explanation{{Key: "k", Calls: 5, Effects: sound.Effects}}},
	} {
		c.Schema, c.History = certificate.Schema, subject(history)
		err := certificate.Verify(bytes.NewReader(history), nil, c)
		if _, rejected := errors.AsType[*certificate.RejectedError](err); !rejected {
			t.Errorf("an explanation %s: %v, want it rejected", name, err)
		}
	}
}
