package locks_test

import (
	"testing"

	"github.com/lockbench/lockbench/locks"
)

func TestClassInWords(t *testing.T) {
	for _, c := range []struct {
		spec locks.Spec
		want string
	}{
		{locks.Spec{Masters: 1}, "one master, lease"},
		{locks.Spec{Masters: 5, Extends: true}, "a majority of masters, lease"},
		{locks.Spec{Masters: 1, Renews: true, Reenters: true, Waits: true}, "one master, lease, renewed, re-entrant, waits"},
		{locks.Spec{Masters: 1, Fencing: true, ReadWrite: true, Promises: locks.Promises{NoLease: true, Fair: true}}, "one master, no lease, fencing tokens, readers and writers, fair"},
	} {
		if got := c.spec.Class().String(); got != c.want {
			t.Errorf("class of %+v is %q, want %q", c.spec, got, c.want)
		}
	}
}
