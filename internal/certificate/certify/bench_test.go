package certify_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
)

// turns is a history of a sound lock on one key under contention: clients that are refused, hold it,
// extend it and release it, with a share of calls of unknown outcome.
func turns(events int) []histories.Event {
	const clients, unknown = 8, 0.02
	r := rand.New(rand.NewPCG(20251123, 0))
	all := make([]histories.Event, 0, events)
	now, attempt, process := time.Duration(0), uint64(0), clients
	of := make([]int, clients) // process
	for i := range of {
		of[i] = i
	}
	call := func(worker int, f histories.F, attempt uint64, answer histories.Type) {
		e := histories.Event{Process: of[worker], Worker: worker, F: f, Key: "orders/42", Attempt: attempt}
		if f != histories.Release {
			e.TTL = 3 * time.Second
		}
		for _, t := range []histories.Type{histories.Invoke, answer} {
			now += time.Duration(1 + r.IntN(700_000))
			e.Index, e.Time, e.Type = len(all), now, t
			all = append(all, e)
		}
		if answer == histories.Info {
			of[worker], process = process, process+1
		}
	}
	for len(all)+12 < events {
		holder := r.IntN(clients)
		attempt++
		mine := attempt
		call(holder, histories.Acquire, mine, histories.OK)
		for range r.IntN(4) {
			attempt++
			call((holder+1+r.IntN(clients-1))%clients, histories.Acquire, attempt, histories.Fail)
		}
		if r.IntN(3) == 0 {
			call(holder, histories.Extend, mine, histories.OK)
		}
		if r.Float64() < unknown {
			call(holder, histories.Release, mine, histories.Info)
		} else {
			call(holder, histories.Release, mine, histories.OK)
		}
	}
	return all
}

// million is a history of a million events as it is written, with its report.
func million(b *testing.B) ([]byte, checker.Report) {
	events := turns(1_000_000)
	var text bytes.Buffer
	if err := histories.WriteJSONL(&text, events); err != nil {
		b.Fatal(err)
	}
	return text.Bytes(), checker.Check(b.Context(), events, checker.Options{})
}

func BenchmarkCertify(b *testing.B) {
	history, report := million(b)
	b.SetBytes(int64(len(history)))
	for b.Loop() {
		if _, err := certify.Certify(bytes.NewReader(history), nil, report, certify.Terms(checker.Options{})); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	history, report := million(b)
	c, err := certify.Certify(bytes.NewReader(history), nil, report, certify.Terms(checker.Options{}))
	if err != nil {
		b.Fatal(err)
	}
	if len(c.Proven) != 7 {
		b.Fatal(fmt.Sprint(c.Proven, c.Unproven))
	}
	var text bytes.Buffer
	if err := certificate.Write(&text, c); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(history)))
	b.ReportAllocs()
	for b.Loop() {
		if err := verify(history, nil, text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(text.Len()), "bytes/certificate")
}
