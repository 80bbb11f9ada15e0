package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/locks"
)

// proto is an error reply of a server.
type proto string

func (e proto) Error() string { return string(e) }
func (proto) RedisError()     {}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want locks.Outcome
	}{
		{locks.ErrTaken, locks.Refused},
		{locks.ErrNotHeld, locks.Refused},
		{&locks.InputError{Field: "key"}, locks.Refused},
		{fmt.Errorf("client 3: %w", locks.ErrTaken), locks.Refused},
		{nil, locks.Indefinite},
		{io.EOF, locks.Indefinite},
		{context.Canceled, locks.Indefinite},
		{context.DeadlineExceeded, locks.Indefinite},
		{redis.ErrClosed, locks.Indefinite},
		{redis.Nil, locks.Indefinite},
		{&locks.QuorumError{Errs: []error{io.EOF}}, locks.Indefinite},
		{proto("CROSSSLOT Keys in request don't hash to the same slot"), locks.Refused},
		{fmt.Errorf("EVAL: %w", proto("CROSSSLOT Keys")), locks.Refused},
		{proto("WRONGTYPE Operation against a key"), locks.Indefinite}, // a script may have written before
		{errors.New("CROSSSLOT"), locks.Indefinite},
		{errors.New("lock is taken"), locks.Indefinite}, // the text alone proves nothing
	} {
		if got := locks.Classify(tt.err); got != tt.want {
			t.Errorf("Classify(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
	var zero locks.Outcome
	if zero != locks.Indefinite {
		t.Error("the zero Outcome is not Indefinite")
	}
}
