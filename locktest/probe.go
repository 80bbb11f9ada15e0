package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/contract"
	"github.com/lockbench/lockbench/locks"
)

// standstill is for how long of real time virtual time may not move.
const standstill = 5 * time.Second

// probing is the lease of the first acquire, and how long that may take.
const probing = 10 * time.Second

// tokens is where the client of a name draws its tokens from.
func tokens(client string) io.Reader {
	var seed [32]byte
	copy(seed[:], client)
	return locks.NewSource(seed)
}

// probe returns the lock with what is to be seen of it: its methods, those of a lease, and under which names it is kept.
// The error says why nobody can acquire it.
func probe(lock Lock) (spec locks.Spec, err error) {
	spec = lock.spec()
	if lock.known.Name != "" {
		return spec, nil // it says itself what it is
	}
	_, played := contract.InVirtualTime(1, standstill, spec, tokens, func(w *contract.Deployment) {
		made := spec.New(w.Client("probe"))
		if c, ok := made.(io.Closer); ok {
			defer func() { _ = c.Close() }() // what is to be seen has been seen
		}
		ctx, cancel := context.WithTimeout(context.Background(), probing)
		defer cancel()
		lease, failed := made.Acquire(ctx, w.Key(), probing)
		if failed != nil || lease == nil {
			err = fmt.Errorf("the first acquire of a free lock in fair weather: %w", answered(failed))
			return
		}
		see(&spec, made, lease)
		if spec.Keys == nil {
			spec.Keys, err = kept(w)
		}
		err = errors.Join(err, prompt(spec.New, w.Client("second"), w.Key()))
		_ = lease.Release(ctx) // the contract looks at it
	})
	return spec, errors.Join(err, played)
}

// soon is how soon a lock refuses that somebody else holds. The servers of a probe answer within milliseconds.
const soon = 100 * time.Millisecond

// prompt says that a lock which is held by somebody else makes its caller wait, instead of refusing: holders would outlive their leases
// meanwhile, in scenarios in which no other lock is asked for that. What it answers is for the contract to judge.
func prompt(lock func(locks.Env) locks.Locker, env locks.Env, key string) error {
	made := lock(env)
	if c, ok := made.(io.Closer); ok {
		defer func() { _ = c.Close() }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), probing)
	defer cancel()
	began := env.Clock.Now()
	lease, err := made.Acquire(ctx, key, probing)
	took := env.Clock.Now().Sub(began)
	if lease != nil && err == nil {
		_ = lease.Release(ctx)
	}
	if took < soon {
		return nil
	}
	return fmt.Errorf("the acquire of a lock that somebody else holds waited %v, and answered %w; want one try, and locks.ErrTaken: call the library's try-lock, "+
		"or allow it no retries; a lock that waits as well has a method Await for that (locks.Patient)", took.Round(time.Millisecond), granted(err))
}

// granted is err, or that there was none.
func granted(err error) error {
	if err == nil {
		return errors.New("with a lease")
	}
	return err
}

// answered is err, or that there was neither a lease nor an error.
func answered(err error) error {
	if err == nil {
		return errors.New("Acquire returned no lease and no error")
	}
	return err
}

// see notes what a lock and its leases can do.
func see(s *locks.Spec, made locks.Locker, lease locks.Lease) {
	_, s.Extends = lease.(locks.Extender)
	_, s.Renews = lease.(locks.Watched)
	_, s.HasToken = lease.(locks.Verifier)
	s.Promises.Verifies = s.HasToken
	_, s.Reenters = made.(locks.Reentrant)
	_, s.ReadWrite = made.(locks.RWLocker)
	_, s.Notifies = made.(locks.Notifier)
	_, s.Waits = made.(locks.Patient)
	_, s.Promises.WithoutTTL = made.(locks.Defaulter)
	s.Fencing = lease.Token() != 0
}

// kept returns under which names a lock that is held is kept, as far as the key is a part of them. Nil: it is the key alone.
// Names that are there without a time to live are counters, as long as there are others.
func kept(w *contract.Deployment) (func(string) []string, error) {
	nodes, err := w.Inspect(w.Key())
	if err != nil {
		return nil, err
	}
	var forms, lasting []string
	for name, v := range nodes[0] {
		if form := strings.ReplaceAll(name, w.Key(), "\x00"); v.TTL < 0 {
			lasting = append(lasting, form)
		} else {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		forms = lasting
	}
	slices.Sort(forms)
	if len(forms) == 0 || len(forms) == 1 && forms[0] == "\x00" {
		return nil, nil
	}
	return func(key string) []string {
		names := make([]string, len(forms))
		for i, form := range forms {
			names[i] = strings.ReplaceAll(form, "\x00", key)
		}
		return names
	}, nil
}
