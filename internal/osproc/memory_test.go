package osproc_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/osproc"
)

// TestFreeMemory: a machine that runs this has some left, and less than a petabyte.
func TestFreeMemory(t *testing.T) {
	free, err := osproc.FreeMemory(t.Context())
	if err != nil || free < 1<<20 || free > 1<<50 {
		t.Errorf("%d bytes, %v", free, err)
	}
}
