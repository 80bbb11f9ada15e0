package locks

import (
	"context"
	"time"
)

func rwFieldsSpec() Spec {
	return Spec{
		Name:       "rw-fields",
		Title:      "a field and a deadline per holder by the server's clock, writer intent; HDEL of the own",
		Source:     "fix for E, written anew",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		ReadWrite:  true,
		HasToken:   true,
		New:        newRWFields,
	}
}

// newRWFields returns the lock rw-fields, an RWLocker. One hash holds a field for each holder,
// r:token or w:token, and perhaps an intent. Values are deadlines in microseconds of the
// server's clock.
//
//	acquire read   a script: HDEL what has ended; if there is neither a writer nor an intent,
//	               HSET the holder
//	acquire write  a script: HDEL what has ended; if there are readers, HSET the intent; if there
//	               is no holder, HSET the own one and HDEL the intent
//	extend         a script: HDEL what has ended; if the holder is there, HSET it
//	release        a script: HDEL the holder, unless it has ended
//
// Source: E 2, repaired and written anew: a second lock of rw-hash's class, by which locks with
// readers and writers are measured.
//
// What it promises is what rw-hash does, in the same words: the key expires with its last
// field, no holder's TTL matters to another, readers do not starve writers (WriterIntent), and
// nothing is re-entrant. Needs Redis 5. Leases are Extenders and Verifiers; neither they nor the
// lock are safe for concurrent use.
//
// Sound under the assumptions of setnx-px-lua.
func newRWFields(env Env) Locker { return &rwFields{env: env} }

type rwFields struct{ env Env }

func (l *rwFields) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.AcquireWrite(ctx, key, ttl)
}

func (l *rwFields) AcquireRead(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwFieldsReadScript, "r:", key, ttl)
}

func (l *rwFields) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwFieldsWriteScript, "w:", key, ttl, min(ttl, WriterIntent).Microseconds())
}

func (l *rwFields) enter(ctx context.Context, s script, kind, key string, ttl time.Duration, more ...any) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	token, err := NewToken(l.env.Rand)
	if err != nil {
		return nil, err
	}
	lease := &rwFieldsLease{env: l.env, key: key, field: kind + token, deadline: l.deadline(ttl)}
	entered, err := lease.run(ctx, s, append([]any{ttl.Microseconds()}, more...)...)
	switch {
	case err != nil:
		return nil, err
	case entered == 0:
		return nil, ErrTaken
	}
	return lease, nil
}

// deadline is when a hold ends whose script is about to be sent, see rwHash.deadline.
func (l *rwFields) deadline(ttl time.Duration) time.Time {
	return l.env.Clock.Now().Add(ttl - time.Microsecond)
}

type rwFieldsLease struct {
	env        Env
	key, field string
	deadline   time.Time
}

func (l *rwFieldsLease) run(ctx context.Context, s script, args ...any) (int64, error) {
	return s.run(ctx, l.env.Nodes[0], []string{l.key}, append([]any{l.field}, args...)...)
}

// Extend may also shorten the lease. After an indefinite error Deadline is the earlier of the
// two that are possible.
func (l *rwFieldsLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := CheckInput(l.key, ttl); err != nil {
		return err
	}
	deadline := (&rwFields{env: l.env}).deadline(ttl)
	extended, err := l.run(ctx, rwFieldsExtendScript, ttl.Microseconds())
	switch {
	case err != nil:
		l.deadline = earlier(l.deadline, deadline)
		return err
	case extended == 0:
		return ErrNotHeld
	}
	l.deadline = deadline
	return nil
}

func (l *rwFieldsLease) Release(ctx context.Context) error {
	return deleted(l.run(ctx, rwFieldsReleaseScript))
}

func (l *rwFieldsLease) Verify(ctx context.Context) error {
	held, err := l.run(ctx, rwFieldsVerifyScript)
	if err == nil && held == 0 {
		return ErrNotHeld
	}
	return err
}

func (l *rwFieldsLease) Token() int64        { return 0 }
func (l *rwFieldsLease) Deadline() time.Time { return l.deadline }
