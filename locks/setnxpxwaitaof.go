package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

func setNXPXWaitAOFSpec() Spec {
	return Spec{
		Name:       "setnx-px-waitaof",
		Title:      "SET NX PX, WAITAOF 1 0; compare-and-delete script",
		Source:     "Redis WAITAOF",
		Sound:      true,
		Assumption: "the master keeps its disk and its clock, and the holder stops before its deadline",
		Masters:    1,
		Variant:    "setnx-px-lua",
		HasToken:   true,
		AOF:        true,
		Commands:   []Command{waitaofCommand()},
		Promises:   Promises{ReleasesRefused: true, PowerLoss: true},
		New:        newSetNXPXWaitAOF,
	}
}

// newSetNXPXWaitAOF returns the lock setnx-px-waitaof, whose grants are on the master's disk before
// they are told.
//
//	acquire  on one connection: SET key token NX PX milliseconds,
//	         WAITAOF 1 0 milliseconds, half of the TTL; if the file was not synced by then: the
//	         release, and the acquire fails
//	release  a script that deletes key if its value is the own token
//
// Its server keeps an append-only file (appendonly yes). One that is synced once a second (appendfsync
// everysec) makes an acquire last up to a second on Redis, and a lease of less than two is hardly ever
// granted. With appendfsync always SET itself waits for the disk, and WAITAOF only says that it has.
//
// An acquire that fails for want of a sync answers an *UnsyncedError, which is indefinite: the
// key may come back with the file, and not the release. The release is sent even if the context
// has ended.
//
// Source: Redis documentation, WAITAOF (7.2).
//
// Sound as setnx-px-lua, and also if the master loses power (P98). A server that comes back
// without its disk (P51), a replica that takes over (P14) and memory that is full of other
// things (P50) break it all the same: nothing is waited for but one disk.
func newSetNXPXWaitAOF(env Env) Locker {
	return &single{
		env: env,
		acquire: func(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) (int64, error) {
			return 0, setNXPXAndSync(ctx, node, key, token, ttl)
		},
		release: compareAndDelete,
	}
}

func setNXPXAndSync(ctx context.Context, node *redis.Client, key, token string, ttl time.Duration) error {
	patience := max(ttl/2, time.Millisecond) // WAITAOF takes 0 to mean for ever
	var synced []int64
	var waitErr error
	err := pinned(node, func(conn connection) error {
		if err := setNXPX(ctx, conn, key, token, ttl); err != nil {
			return err
		}
		synced, waitErr = conn.Do(ctx, "WAITAOF", 1, 0, patience.Milliseconds()).Int64Slice()
		return nil
	})
	if err != nil || len(synced) == 2 && synced[0] >= 1 {
		return err
	}
	// A caller that gave up must still not leave the key behind.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodeTimeout(ttl))
	defer cancel()
	return &UnsyncedError{Patience: patience, Wait: waitErr, Release: compareAndDelete(cleanup, node, key, token)}
}

// UnsyncedError says that a key was set on the master and not synced to its disk in time, and what
// became of its release. It is indefinite.
type UnsyncedError struct {
	Patience time.Duration // that WAITAOF was given
	Wait     error         // of WAITAOF, or nil
	Release  error         // of the release; nil if the master's key is gone
}

func (e *UnsyncedError) Error() string {
	text := fmt.Sprintf("the key was not on the disk after %v", e.Patience)
	if e.Wait != nil {
		text = fmt.Sprintf("WAITAOF: %v", e.Wait)
	}
	if e.Release != nil {
		return fmt.Sprintf("%s; clean-up: %v", text, e.Release)
	}
	return text + "; released"
}

// Unwrap returns the errors of WAITAOF and of the release, if any.
func (e *UnsyncedError) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Wait, e.Release} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
