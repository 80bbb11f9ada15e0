package certificate_test

import (
	"bytes"
	"testing"

	"github.com/lockbench/lockbench/certificate"
)

// TestCalls: what no order explains is proven, and what some order explains is not.
func TestCalls(t *testing.T) {
	const vanished = `
		A acquire invoke 0 10000
		A acquire ok 10
		A release invoke 20
		A release fail 30`
	const foreign = `
		A acquire invoke 0 100
		A acquire ok 10
		B acquire invoke 200 10000
		B acquire ok 210
		A release invoke 300
		A release ok 310`
	const extended = `
		A acquire invoke 0 100
		A acquire ok 10
		A extend invoke 20 10000
		A extend info 30
		B acquire invoke 200 10000
		B acquire ok 210`
	const taken = `
		A acquire invoke 0 100
		A acquire ok 10
		A release invoke 20
		A release ok 30
		B acquire invoke 40 100
		B acquire fail 50`
	const split = `
		A acquire invoke 0 100
		B acquire invoke 5 100
		A acquire fail 10
		B acquire fail 15`
	const tokens = `
		A acquire invoke 0 10000
		B acquire invoke 5 10000
		A acquire ok 10 0 7
		A release invoke 20
		A release ok 30
		B acquire ok 40 0 6`
	for _, c := range []struct {
		name, rule, history string
		attempts            []uint64
		last                int
		proven              bool
	}{
		{"its own release is refused", "truthful-replies", vanished, []uint64{1}, 3, true},
		{"before the answer", "truthful-replies", vanished, []uint64{1}, 2, false},
		{"of nobody", "truthful-replies", vanished, nil, 3, false},
		{"of somebody else", "truthful-replies", vanished, []uint64{2}, 3, false},
		{"of one attempt twice", "truthful-replies", vanished, []uint64{1, 1}, 3, false},
		{"of another rule", "mutual-exclusion", vanished, []uint64{1}, 3, false},
		{"released what another has", "ownership", foreign, []uint64{1, 2}, 5, true},
		{"released what it had once", "ownership", foreign, []uint64{1}, 5, false},
		{"an extend may have shortened nothing", "lease-honoured", extended, []uint64{1, 2}, 5, false},
		{"taken by nobody", "truthful-replies", taken, []uint64{1, 2}, 5, true},
		{"taken, as far as one knows", "truthful-replies", taken, []uint64{2}, 5, false},
		{"both refused at once", "truthful-replies", split, []uint64{1, 2}, 3, false},
		{"a token goes down", "fencing", tokens, []uint64{1, 2}, 5, true},
		{"of which another rule says nothing", "truthful-replies", tokens, []uint64{1, 2}, 5, false},
	} {
		_, errs, err := certificate.Prove(bytes.NewReader(script(t, c.history)), certificate.Certificate{Proven: []certificate.Verdict{{
			Rule: c.rule, Verdict: certificate.Fail, Proof: certificate.ByCalls, Key: "k", Attempts: c.attempts,
			Events: []certificate.Named{{Role: "last", Index: c.last}},
		}}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if (errs[0] == nil) != c.proven {
			t.Errorf("%s: %v, want it proven: %v", c.name, errs[0], c.proven)
		}
	}
}

// TestCallsUnderFaults: a fault that may have made a server forget explains what no order does, and one
// under which a call may have been made twice explains a refusal.
func TestCallsUnderFaults(t *testing.T) {
	const call = `
{"index":1,"time":1,"process":0,"worker":0,"type":"invoke","f":"acquire","key":"k","attempt":1,"ttl":10000000000}
{"index":2,"time":2,"process":0,"worker":0,"type":"ok","f":"acquire","key":"k","attempt":1}
{"index":3,"time":3,"process":0,"worker":0,"type":"invoke","f":"release","key":"k","attempt":1}
{"index":4,"time":4,"process":0,"worker":0,"type":"fail","f":"release","key":"k","attempt":1}
`
	for name, c := range map[string]struct {
		before, after string
		last          int
		proven        bool
	}{
		"none":                 {`{"index":0,"time":0,"process":-1,"worker":-1,"type":"info","f":"missed"}`, "", 4, true},
		"one that lasts":       {`{"index":0,"time":0,"process":-1,"worker":-1,"type":"invoke","f":"kill","node":"m"}`, "", 4, false},
		"a pause":              {`{"index":0,"time":0,"process":-1,"worker":-1,"type":"invoke","f":"pause","node":"A"}`, "", 4, false},
		"one that comes later": {`{"index":0,"time":0,"process":-1,"worker":-1,"type":"info","f":"missed"}`, `{"index":5,"time":5,"process":-1,"worker":-1,"type":"invoke","f":"kill","node":"m"}` + "\n", 4, true},
	} {
		_, errs, err := certificate.Prove(bytes.NewReader([]byte(c.before+call+c.after)), certificate.Certificate{Proven: []certificate.Verdict{{
			Rule: "truthful-replies", Verdict: certificate.Fail, Proof: certificate.ByCalls, Key: "k", Attempts: []uint64{1},
			Events: []certificate.Named{{Role: "last", Index: c.last}},
		}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if (errs[0] == nil) != c.proven {
			t.Errorf("%s: %v, want it proven: %v", name, errs[0], c.proven)
		}
	}
}
