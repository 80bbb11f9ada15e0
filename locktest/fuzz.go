package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/harness"
)

const (
	// mostBytes is how many bytes choose a schedule at most: a program, how many faults, and for each two.
	mostBytes = 8
	// weighing bounds how long one schedule may take, in real time, together with other locks that are measured by. The fuzzer
	// takes for hung what goes on for ten seconds.
	weighing = 7 * time.Second
)

// Fuzz lets go test -fuzz choose schedules: bytes choose a program, and up to two faults at commands that are sent in it. It
// fails for what locks of the same class keep under faults of the same kind, and writes the schedule to testdata/lockbench as
// text, beside the bytes that go test keeps in testdata/fuzz. Replay plays the former again, and go test the latter.
//
//	func FuzzMyLock(f *testing.F) { locktest.Fuzz(f, myLock) }
//
// It is always in virtual time.
func Fuzz(f *testing.F, lock Lock, opts ...Option) {
	f.Helper()
	outside(f, "Fuzz")
	o := newOptions(f, append([]Option{Depth(2)}, opts...))
	o.backend = harness.Embedded()
	r := newTest(f, lock, o)
	opt := r.search()
	opt.Depth = o.depth
	chooser, err := explore.NewChooser(r.spec, opt)
	if err != nil {
		f.Fatalf("the programs cannot be played: %v", err)
	}
	for i := range chooser.Programs() {
		f.Add([]byte{byte(i)})
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		t.Helper()
		if len(choices) > mostBytes {
			return // what they choose others do, too
		}
		ctx, cancel := context.WithTimeout(t.Context(), weighing)
		defer cancel()
		finding, broken := chooser.Try(ctx, (&chosen{choices}).index)
		if !broken {
			return
		}
		clear(r.causes) // each failure is told whole: the fuzzer shows the last one alone
		if err := r.found(t, finding, opt, r.spec.Name+"-fuzz", overwrite); err != nil {
			t.Errorf("%s: what was found cannot be shown: %v", finding.Title(), err)
		}
	})
}

// chosen are bytes that choose.
type chosen struct{ left []byte }

// index returns a number from 0 up to n: the next byte, or two if one is too few. When there are none left, it is 0.
func (b *chosen) index(n int) int {
	v := b.next()
	if n > 1<<8 {
		v = v<<8 | b.next()
	}
	return v % max(n, 1)
}

func (b *chosen) next() int {
	if len(b.left) == 0 {
		return 0
	}
	v := b.left[0]
	b.left = b.left[1:]
	return int(v)
}
