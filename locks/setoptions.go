package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Expiry is the option of SET that says when the key ends.
type Expiry uint8

// The expiries. The zero value is PX.
const (
	// PX is a TTL in milliseconds.
	PX Expiry = iota
	// EX is a TTL in seconds. Any other TTL is an *InputError.
	EX
	// PXAT is an instant in milliseconds, by the client's clock.
	PXAT
	// EXAT is an instant in seconds, by the client's clock. The key lives on to the next
	// whole second after the Deadline.
	EXAT
	// KeepTTL keeps the TTL that the key has. A free lock has no key and so no TTL: the
	// lease never ends, the TTL given to Acquire is ignored, and the Deadline is zero.
	KeepTTL
)

// String returns the option as SET spells it, or Expiry(n) for a value that is none.
func (e Expiry) String() string {
	switch e {
	case PX:
		return "PX"
	case EX:
		return "EX"
	case PXAT:
		return "PXAT"
	case EXAT:
		return "EXAT"
	case KeepTTL:
		return "KEEPTTL"
	}
	return fmt.Sprintf("Expiry(%d)", uint8(e))
}

// SetOptions are the options of SET that the lock set-options sends besides NX. The zero
// value is NX PX. The expiries exclude each other, as they do for SET.
type SetOptions struct {
	Expiry Expiry
	// Get has SET answer the value that it found. A refusal is then a *HolderError. NX
	// with GET needs Redis 7.0; an older server answers that as a syntax error.
	Get bool
}

// HolderError is an ErrTaken that knows the holder's token.
type HolderError struct{ Token string }

func (e *HolderError) Error() string { return fmt.Sprintf("%v by %q", ErrTaken, e.Token) }

// Unwrap returns ErrTaken.
func (e *HolderError) Unwrap() error { return ErrTaken }

func setOptionsSpec() Spec {
	return Spec{
		Name:       "set-options",
		Title:      "SET with NX, an expiry and GET; compare-and-delete script",
		Source:     "C",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		HasToken:   true,
		Promises:   Promises{ReleasesRefused: true},
		New:        func(env Env) Locker { return newSetOptions(env, SetOptions{}) },
	}
}

// NewSetOptions returns the lock set-options, or an *InputError for options that SET
// does not have.
//
//	acquire  SET key token NX, then PX milliseconds, EX seconds, PXAT instant, EXAT
//	         instant or KEEPTTL, then GET if asked for
//	release  a script that deletes key if its value is the own token
//	extend   a script that sets key's TTL if its value is the own token
//
// With Get, an answer that is the own token says that the command was sent twice and the
// first one worked (P26): the lease is held. Without Get that is an ErrTaken.
//
// Source: C 不可重入锁: Redis Command # Set; 解锁#不可重入锁.
//
// Sound with PX and EX under the assumptions of setnx-px-lua. PXAT and EXAT need the
// client's clock and the server's to agree as well: a server that is ahead by the TTL
// lets everybody in (P56). KeepTTL is never a lease: a holder that crashes keeps the
// lock for ever (P01).
func NewSetOptions(env Env, options SetOptions) (Locker, error) {
	if options.Expiry > KeepTTL {
		return nil, &InputError{Field: "expiry", Value: options.Expiry.String(), Want: "PX, EX, PXAT, EXAT or KEEPTTL"}
	}
	return newSetOptions(env, options), nil
}

func newSetOptions(env Env, options SetOptions) *single {
	lock := &single{
		env:     env,
		release: compareAndDelete,
		extend:  extendOwn,
		forever: options.Expiry == KeepTTL,
		acquire: func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
			args := append([]any{"SET", key, token, "NX"}, options.args(env.Clock.Now(), ttl)...)
			return 0, options.read(token, node.Do(ctx, args...))
		},
	}
	if options.Expiry == EX {
		lock.accept = acceptWholeSeconds
	}
	return lock
}

// args are what follows NX. An instant is rounded up, so that the key does not end before
// the Deadline.
func (o SetOptions) args(now time.Time, ttl time.Duration) []any {
	args := []any{o.Expiry.String()}
	switch ends := now.Add(ttl); o.Expiry {
	case EX:
		args = append(args, int64(ttl/time.Second))
	case PXAT:
		args = append(args, ends.Add(time.Millisecond-1).UnixMilli())
	case EXAT:
		args = append(args, ends.Add(time.Second-1).Unix())
	case KeepTTL:
	default:
		args = append(args, ttl.Milliseconds())
	}
	if o.Get {
		args = append(args, "GET")
	}
	return args
}

// read returns nil, ErrTaken or a *HolderError, or an indefinite error.
func (o SetOptions) read(token string, reply *redis.Cmd) error {
	found, err := reply.Text()
	absent := errors.Is(err, redis.Nil)
	switch {
	case redis.HasErrorPrefix(err, "syntax error"):
		return fmt.Errorf("%w: NX with GET needs Redis 7.0, PXAT and EXAT 6.2, KEEPTTL 6.0", err)
	case err != nil && !absent:
		return err
	case o.Get && !absent && found != token:
		return &HolderError{Token: found}
	case o.Get:
		return nil // there was nothing, or our own
	case absent:
		return ErrTaken
	case found != "OK":
		return fmt.Errorf("SET answered %q, want OK or nil", found)
	default:
		return nil
	}
}
