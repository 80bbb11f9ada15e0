package locks

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// InputError says that an argument was refused before anything was sent.
type InputError struct {
	Field string // "key" or "ttl"
	Value string // what was given
	Want  string // what is accepted
}

func (e *InputError) Error() string {
	return fmt.Sprintf("lock %s is %s, want %s", e.Field, e.Value, e.Want)
}

// CheckInput returns an *InputError unless key and ttl are what Redis can hold: PX takes whole
// milliseconds. Every Duration fits the server's 64-bit milliseconds.
func CheckInput(key string, ttl time.Duration) error {
	if key == "" {
		return &InputError{Field: "key", Value: `""`, Want: "a name"}
	}
	if ttl < time.Millisecond || ttl%time.Millisecond != 0 {
		return &InputError{Field: "ttl", Value: ttl.String(), Want: "whole milliseconds, 1ms or more"}
	}
	return nil
}

// NewToken returns a value that no other attempt has: 20 random bytes in hexadecimal,
// as the Redis documentation advises (Distributed Locks, "Correct implementation with
// a single instance").
func NewToken(random io.Reader) (string, error) {
	var b [20]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
