package contract

import (
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/locks"
)

func readersAndWriters(s *scene) error {
	a, b := s.client("A"), s.client("B")
	writer, rival, late := s.client("writer"), s.client("rival"), s.client("late")
	first, err := a.acquireRead(long)
	if err != nil {
		return err
	}
	second, err := b.acquireRead(long)
	if err != nil {
		return fmt.Errorf("beside another reader: %w", err)
	}
	if err := writer.refused(); err != nil {
		return fmt.Errorf("beside readers: %w", err)
	}
	if err := errors.Join(s.release(first), s.release(second)); err != nil {
		return fmt.Errorf("readers: %w", err)
	}
	// The writer that was refused comes first: a lock may remember that it waits.
	held, err := writer.acquire(long)
	if err != nil {
		return fmt.Errorf("after the readers: %w", err)
	}
	if err := late.refusedRead(); err != nil {
		return fmt.Errorf("beside a writer: %w", err)
	}
	if err := rival.refused(); err != nil {
		return fmt.Errorf("beside a writer: %w", err)
	}
	if err := s.release(held); err != nil {
		return fmt.Errorf("writer: %w", err)
	}
	if held, err = rival.acquire(long); err != nil {
		return fmt.Errorf("after the writer: %w", err)
	}
	if err := s.release(held); err != nil {
		return fmt.Errorf("second writer: %w", err)
	}
	if _, err := late.acquireRead(long); err != nil {
		return fmt.Errorf("after the writers: %w", err)
	}
	return nil
}

// Both readers in turn leave first.
func readerRelease(s *scene) error {
	a, b, writer := s.client("A"), s.client("B"), s.client("writer")
	for _, order := range [][2]*client{{a, b}, {b, a}} {
		held := map[*client]locks.Lease{}
		for _, c := range []*client{a, b} {
			lease, err := c.acquireRead(long)
			if err != nil {
				return err
			}
			held[c] = lease
		}
		leaves, stays := order[0], order[1]
		if err := s.release(held[leaves]); err != nil {
			return fmt.Errorf("%s: %w", leaves.Client, err)
		}
		if err := writer.refused(); err != nil {
			return fmt.Errorf("%s still reads: %w", stays.Client, err)
		}
		if err := s.release(held[stays]); err != nil {
			return fmt.Errorf("%s: %w", stays.Client, err)
		}
		lease, err := writer.acquire(long)
		if err != nil {
			return fmt.Errorf("after both readers: %w", err)
		}
		if err := s.release(lease); err != nil {
			return err
		}
	}
	return nil
}

func readerExpiry(s *scene) error {
	a, writer := s.client("A"), s.client("writer")
	late, err := a.acquireRead(s.ttl)
	if err != nil {
		return err
	}
	s.sleepThrough(a)
	held, err := writer.acquire(long)
	if err != nil {
		return fmt.Errorf("after the reader's lease ended: %w", err)
	}
	err = s.unchanged(func() error {
		s.Heal(a.Client)
		return s.notHeld("release by a reader whose lease ended", late.Release)
	})
	if err != nil {
		return err
	}
	return s.release(held)
}

func readerExpiryKeepsOthers(s *scene) error {
	a, b, writer := s.client("A"), s.client("B"), s.client("writer")
	s.ttl *= 2 // longer than a second, for which some lock may hold whatever it is asked for
	if _, err := a.acquireRead(long); err != nil {
		return err
	}
	if _, err := b.acquireRead(s.ttl); err != nil {
		return err
	}
	s.outlive(b)
	if err := writer.refused(); err != nil {
		return fmt.Errorf("beside a reader with a longer lease: %w", err)
	}
	return nil
}
