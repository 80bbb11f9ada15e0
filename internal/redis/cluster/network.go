package cluster

import "context"

// A Disconnecter takes nodes off their network. Only a deployment whose nodes have a
// network of their own can be one: to do so to servers on the loopback of a machine
// would be to change the machine.
type Disconnecter interface {
	// Disconnect takes node off its network, as pulling its cable does: what is sent to
	// it gets lost, and nobody's connection ends. The node lives on. A node that is off
	// already stays off.
	Disconnect(ctx context.Context, node string) error
	// Reconnect puts node back at the same address, and returns once it answers, if it
	// is alive.
	Reconnect(ctx context.Context, node string) error
}

// Anyone stands in a Path for all nodes, clients and lockbench itself.
const Anyone = "*"

// Path is the way that packets go through the network, in one direction.
type Path struct{ From, To string } // a node, or one of the two Anyone

// A PacketDropper makes the network lose packets without a word to anybody: no
// connection ends. It needs the same as a Disconnecter.
type PacketDropper interface {
	// CanDrop tries, and says why packets cannot be dropped here. It drops none.
	CanDrop(ctx context.Context) error
	// Drop loses all packets on path until Pass.
	Drop(ctx context.Context, path Path) error
	// Dropped returns how many packets on path were lost since Drop.
	Dropped(ctx context.Context, path Path) (packets int64, err error)
	// Pass lets packets through again, and returns what Dropped does. TCP sends again
	// what was lost, some time later. Nothing is dropped any more at a node that was
	// killed and started again since Drop, and the packets lost there are not known.
	Pass(ctx context.Context, path Path) (packets int64, err error)
}
