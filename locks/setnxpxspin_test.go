package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// TestSpinStarvesTheHolder lets as many threads wait as the pool has connections. With the
// connection kept, the holder cannot release; with one for each command, it can.
func TestSpinStarvesTheHolder(t *testing.T) {
	for name, starves := range map[string]bool{"setnx-px-spin": true, "setnx-px-spin-per-command": false} {
		t.Run(name, func(t *testing.T) {
			spec, err := libraries.Catalogue().Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := onEmbedded(spec, func(w *world) {
				env := w.Env("process")
				lock := spec.New(env).(locks.Patient)
				held, err := lock.Acquire(context.Background(), w.Key(), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				waiting, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
				defer cancel()
				answers := make(chan error)
				for range locks.SpinPool {
					go func() {
						lease, err := lock.Await(waiting, w.Key(), time.Minute)
						if err == nil {
							err = lease.Release(context.Background())
						}
						answers <- err
					}()
				}
				w.Sleep(10 * time.Millisecond)
				hurried, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
				defer stop()
				if err := held.Release(hurried); errors.Is(err, context.DeadlineExceeded) != starves || err != nil && !starves {
					t.Errorf("release: %v", err)
				}
				for range locks.SpinPool {
					if err := <-answers; starves && err == nil || !starves && err != nil {
						t.Errorf("a waiter: %v", err)
					}
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPatience checks that every lock that waits gets the lock once it is free, and says
// that it was taken when its context ends before. One that spins has a command under way
// then, whose outcome is open.
func TestPatience(t *testing.T) {
	for _, spec := range libraries.Catalogue() {
		if !spec.Waits || spec.Name == "lua-uuid-one-try" { // which never tries
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			if err := onEmbedded(spec, func(w *world) {
				holder, waiter := spec.New(w.Env("holder")), spec.New(w.Env("waiter")).(locks.Patient)
				defer closeLock(t, holder)
				defer closeLock(t, waiter)
				held, err := holder.Acquire(context.Background(), w.Key(), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				short, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
				defer cancel()
				spins := strings.HasPrefix(spec.Name, "setnx-px-spin") || strings.HasSuffix(spec.Name, "-session")
				if lease, err := waiter.Await(short, w.Key(), time.Minute); lease != nil || err == nil || !spins && !errors.Is(err, locks.ErrTaken) {
					t.Errorf("in vain: %v, %v; want no lease and ErrTaken", lease, err)
				}
				got := make(chan error)
				go func() {
					lease, err := waiter.Await(context.Background(), w.Key(), time.Minute)
					if err == nil {
						err = lease.Release(context.Background())
					}
					got <- err
				}()
				w.Sleep(50 * time.Millisecond)
				if err := held.Release(context.Background()); err != nil {
					t.Errorf("release: %v", err)
				}
				if err := <-got; err != nil {
					t.Errorf("after the release: %v", err)
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}
