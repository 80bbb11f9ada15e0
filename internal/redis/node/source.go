package node

import "net/netip"

// Source is where replica finds its master: a door of ours. It is not valid for a node that
// follows none, or before Start.
func (r *Replication) Source(replica string) netip.AddrPort {
	master := r.Master(replica)
	if master == "" || r.doors == nil {
		return netip.AddrPort{}
	}
	return r.doors.at(replica, master)
}
