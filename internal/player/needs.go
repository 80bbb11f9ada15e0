package player

import (
	"fmt"

	"github.com/lockbench/lockbench/locks"
)

// Unsupported returns why a script cannot be played with a lock, or nil.
func (p Script) Unsupported(lock locks.Spec) error {
	if p.Reenters() && !lock.Reenters {
		return fmt.Errorf("its clients re-enter the lock, and lock %s cannot be re-entered (lockbench list locks)", lock.Name)
	}
	if p.Extends() && !lock.Extends {
		return fmt.Errorf("its clients extend their leases, and the leases of lock %s cannot be extended (lockbench list locks)", lock.Name)
	}
	if p.Waits && !lock.Waits {
		return fmt.Errorf("its clients wait for the lock, and lock %s tries once and does not wait (lockbench list locks)", lock.Name)
	}
	if p.ReleasesTwice() && !lock.Promises.ReleasesTwice {
		return fmt.Errorf("its clients release twice, and lock %s does not say that it takes that", lock.Name)
	}
	if p.ReleasesRefused() && !lock.Promises.ReleasesRefused {
		return fmt.Errorf("its clients release what they were refused, and lock %s does not say that a refusal leaves anything to release", lock.Name)
	}
	if p.Verifies() && !lock.Promises.Verifies {
		return fmt.Errorf("its clients ask the lock whether they still hold it, and lock %s does not say that it can be asked", lock.Name)
	}
	if p.WithoutTTL() && !lock.Promises.WithoutTTL {
		return fmt.Errorf("its clients acquire the lock without saying for how long, and lock %s does not say that it takes that", lock.Name)
	}
	if p.GivesUp() && lock.Promises.Endless {
		return fmt.Errorf("its clients give calls up, and those of lock %s last until the server answers", lock.Name)
	}
	if p.Queues && !lock.Promises.Fair {
		return fmt.Errorf("its clients count on being served in their order, and lock %s does not promise that", lock.Name)
	}
	return nil
}
