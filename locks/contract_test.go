package locks_test

import (
	"testing"

	"github.com/lockbench/lockbench/locks"
	"github.com/lockbench/lockbench/locks/locktest"
)

func TestContractInVirtualTime(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			locktest.Contract(t, spec, inVirtualTime(spec.Masters))
		})
	}
}

func TestContractOnRealServers(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			locktest.Contract(t, spec, onRealServers(spec.Masters))
		})
	}
}
