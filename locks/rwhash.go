package locks

import (
	"context"
	"time"
)

// WriterIntent is for how long, by the server's clock, a writer that readers kept out
// keeps new readers out of rw-hash; an acquire for less than that does so for its TTL.
const WriterIntent = 500 * time.Millisecond

func rwHashSpec() Spec {
	return Spec{
		Name:       "rw-hash",
		Title:      "a deadline per holder by the server's clock, writer intent; ZREM of the own",
		Source:     "fix for E",
		Sound:      true,
		Assumption: "the master keeps its keys and its clock, and the holder stops before its deadline",
		Masters:    1,
		Extends:    true,
		ReadWrite:  true,
		HasToken:   true,
		New:        newRWHash,
	}
}

// newRWHash returns the lock rw-hash, an RWLocker. One sorted set holds an entry for each
// holder, read:token or write:token, and perhaps an intent. Scores are deadlines in
// microseconds of the server's clock.
//
//	acquire read   a script: remove what has ended; if there is neither a writer nor an
//	               intent, add the holder
//	acquire write  a script: remove what has ended; if there is no holder, put the own one
//	               in place of the intent; if there are readers, leave an intent
//	extend         a script: remove what has ended; if the holder is there, set its score
//	release        a script: remove what has ended, then the holder
//
// The key expires with its last entry. Time is TIME within the script, so that clients'
// clocks do not matter, and no holder's TTL matters to another.
//
// Readers do not starve writers. A write that is refused because of readers leaves an
// intent, which lasts WriterIntent from the last such write. While it lasts no new
// reader gets in; those inside may stay and extend. So a writer that tries at least once
// in WriterIntent is let in once the readers that were inside have gone; that takes no
// longer than their leases. The first writer to get in removes the intent: writers are
// not queued, and after each of them readers have their chance again. An intent is not
// a hold, and is the one thing that a refused acquire leaves behind. If the writer
// crashes or gives up, readers are refused for the rest of WriterIntent, even with
// nobody inside; other writers are not.
//
// Nothing is re-entrant. A writer that acquires again is refused (P46). A reader that
// asks for a write is refused, by its own read too. A second read is a lease of its own,
// and is refused like any other while a writer waits: whoever waits for it inside the
// first may wait until that one ends.
//
// Source: E 2, repaired: P40, P42 to P45, P63 to P65. E's table has writes as not
// re-entrant too. Needs Redis 5. Leases are Extenders and Verifiers; neither they nor the
// lock are safe for concurrent use.
//
// Sound under the assumptions of setnx-px-lua.
func newRWHash(env Env) Locker {
	return &rwHash{env: env, write: rwHashWriteScript, name: func() (string, error) { return NewToken(env.Rand) }}
}

type rwHash struct {
	env   Env
	write script                 // of AcquireWrite
	name  func() (string, error) // of a holder: a token of its attempt
}

func (l *rwHash) Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.AcquireWrite(ctx, key, ttl)
}

func (l *rwHash) AcquireRead(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, rwHashReadScript, "read:", key, ttl)
}

func (l *rwHash) AcquireWrite(ctx context.Context, key string, ttl time.Duration) (Lease, error) {
	return l.enter(ctx, l.write, "write:", key, ttl, min(ttl, WriterIntent).Milliseconds())
}

func (l *rwHash) enter(
	ctx context.Context, enter script, kind, key string, ttl time.Duration, more ...any,
) (Lease, error) {
	if err := CheckInput(key, ttl); err != nil {
		return nil, err
	}
	name, err := l.name()
	if err != nil {
		return nil, err
	}
	lease := &rwHashLease{lock: l, key: key, holder: kind + name}
	deadline := l.deadline(ttl)
	entered, err := lease.run(ctx, enter, append([]any{ttl.Milliseconds()}, more...)...)
	if err != nil {
		return nil, err
	}
	if entered == 0 {
		return nil, ErrTaken
	}
	lease.deadline = deadline
	return lease, nil
}

// deadline is when a hold ends whose script is about to be sent, see single.Acquire. The
// server cuts its time to microseconds, and may so count from up to one earlier.
func (l *rwHash) deadline(ttl time.Duration) time.Time {
	return l.env.Clock.Now().Add(ttl - time.Microsecond)
}

type rwHashLease struct {
	lock        *rwHash
	key, holder string
	deadline    time.Time
}

// run sends a script with the holder and args.
func (l *rwHashLease) run(ctx context.Context, s script, args ...any) (int64, error) {
	return s.run(ctx, l.lock.env.Nodes[0], []string{l.key}, append([]any{l.holder}, args...)...)
}

// Extend may also shorten the lease. After an indefinite error Deadline is the earlier
// of the two that are possible.
func (l *rwHashLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := CheckInput(l.key, ttl); err != nil {
		return err
	}
	deadline := l.lock.deadline(ttl)
	extended, err := l.run(ctx, rwHashExtendScript, ttl.Milliseconds())
	switch {
	case err != nil:
		l.deadline = earlier(l.deadline, deadline)
		return err
	case extended == 0:
		return ErrNotHeld
	default:
		l.deadline = deadline
		return nil
	}
}

func (l *rwHashLease) Release(ctx context.Context) error {
	return deleted(l.run(ctx, rwHashReleaseScript))
}

func (l *rwHashLease) Verify(ctx context.Context) error {
	held, err := l.run(ctx, rwHashVerifyScript)
	if err == nil && held == 0 {
		return ErrNotHeld
	}
	return err
}

func (l *rwHashLease) Token() int64        { return 0 }
func (l *rwHashLease) Deadline() time.Time { return l.deadline }

// earlier is what a lease may rely on when an Extend has answered nothing.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
