package docker

import (
	"net/netip"
	"testing"
)

// Where a whole range is taken the next one has a subnet to spare.
func TestFreeSubnets(t *testing.T) {
	taken := func(prefixes ...string) (all []netip.Prefix) {
		for _, p := range prefixes {
			all = append(all, netip.MustParsePrefix(p))
		}
		return all
	}
	for _, tt := range []struct {
		taken []netip.Prefix
		free  int
		first string
	}{
		{taken(), 3 * 256, "10.231.254.0/24"},
		{taken("192.0.2.2/24", "172.17.0.1/16", "::1/128"), 3 * 256, "10.231.254.0/24"},
		{taken("10.231.254.0/24", "10.231.255.7/25"), 3*256 - 2, "10.231.0.0/24"},
		{taken("10.1.2.3/8", "192.168.1.20/24"), 2*256 - 1, "172.29.254.0/24"},
		{taken("10.0.0.0/8", "172.16.0.0/12"), 256, "192.168.254.0/24"},
		{taken("0.0.0.0/0"), 0, ""},
	} {
		free := freeSubnets(tt.taken, 254)
		if len(free) != tt.free || tt.free > 0 && free[0].String() != tt.first {
			t.Errorf("beside %v: %d subnets %v, want %d from %s on", tt.taken, len(free), free[:min(1, len(free))], tt.free, tt.first)
		}
		for _, subnet := range free {
			if overlaps(subnet, tt.taken) || subnet != subnet.Masked() {
				t.Errorf("%v is not a free subnet beside %v", subnet, tt.taken)
			}
		}
	}
}
