// Package resource is the thing that a lock protects: a versioned register on a
// Redis node of its own, which survives the faults of the lock's servers. Its
// accesses cross the wire like any others, so that they can be held, dropped and
// delayed.
package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// ErrStale says that the register refused an access whose fencing token is lower
// than one it has seen.
var ErrStale = errors.New("fencing token is stale")

// Register is a counter with a version. The version goes up by one with each
// accepted write, so that a write which replaces another version than the one its
// section read is seen to have overwritten somebody's update.
type Register struct {
	client *redis.Client
	key    string
}

// KeySuffix makes the register's key of the lock's.
const KeySuffix = ":register"

// NewRegister returns the register that the lock on lockKey protects.
func NewRegister(client *redis.Client, lockKey string) *Register {
	return &Register{client: client, key: lockKey + KeySuffix}
}

// State is what one access saw.
type State struct {
	Value   int64
	Version int64
}

// Read returns value and version. With a token above 0 it is fenced: the register
// remembers the highest token of any access and refuses a lower one with ErrStale.
func (r *Register) Read(ctx context.Context, token int64) (State, error) {
	return r.run(ctx, read, token)
}

// Write stores value and returns the version that it replaced. It does not compare
// versions: that is what a resource without fencing does. With a token above 0 it is
// fenced as Read is.
func (r *Register) Write(ctx context.Context, value, token int64) (State, error) {
	return r.run(ctx, write, token, value)
}

// Enter reads as Read does, and issues a token that is higher than any the register has
// seen.
func (r *Register) Enter(ctx context.Context) (State, int64, error) {
	reply, err := r.call(ctx, enter, 3)
	if err != nil {
		return State{}, 0, err
	}
	return State{Value: reply[0], Version: reply[1]}, reply[2], nil
}

func (r *Register) run(ctx context.Context, script *redis.Script, args ...any) (State, error) {
	reply, err := r.call(ctx, script, 2, args...)
	if err != nil {
		return State{}, err
	}
	return State{Value: reply[0], Version: reply[1]}, nil
}

func (r *Register) call(ctx context.Context, script *redis.Script, want int, args ...any) ([]int64, error) {
	reply, err := script.Run(ctx, r.client, []string{r.key}, args...).Int64Slice()
	switch {
	case err != nil:
		return nil, fmt.Errorf("register: %w", err)
	case len(reply) == 1:
		return nil, ErrStale
	case len(reply) != want:
		return nil, fmt.Errorf("register: script answered %v, want %d numbers", reply, want)
	}
	return reply, nil
}

// Load sends the scripts ahead, so that the first access is one command.
func (r *Register) Load(ctx context.Context) error {
	for _, s := range []*redis.Script{read, write, enter} {
		if err := s.Load(ctx, r.client).Err(); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	return nil
}
