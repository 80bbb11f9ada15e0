package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// errNoNetwork is why faults of the network between servers cannot be had: the servers
// of process are on the loopback of a machine that must stay as it is, and those of
// external belong to somebody else.
var errNoNetwork = errors.New("its servers have no network that is lockbench's to break")

// network is a deployment whose network can lose packets.
type network interface {
	cluster.Commander
	cluster.PacketDropper
}

func needsNetwork(c cluster.Cluster) error {
	if _, ok := c.(network); !ok {
		return errNoNetwork
	}
	return nil
}

// canDrop tries whether this deployment loses packets when it is told to.
func canDrop(ctx context.Context, c cluster.Cluster) error {
	n, ok := c.(network)
	if !ok {
		return errNoNetwork
	}
	return n.CanDrop(ctx)
}

// losing completes a fault that loses all packets on paths. It is in force once packets
// were lost, which provoke is called for until they are. look is called before healing,
// and check after it; what they say is told.
func losing(f Fault, c network, paths []cluster.Path, provoke func(context.Context) error, look, check func(context.Context) (string, error)) Fault {
	pass := func(ctx context.Context) (lost int64, err error) {
		for _, path := range paths {
			n, e := c.Pass(ctx, path)
			lost, err = lost+n, errors.Join(err, e)
		}
		return lost, err
	}
	f.Start = func(ctx context.Context) (string, error) {
		err := lose(ctx, c, paths, provoke)
		if err != nil {
			_, e := pass(context.WithoutCancel(ctx)) // also after Ctrl-C
			err = errors.Join(err, e)
		}
		return "", err
	}
	f.Stop = func(ctx context.Context) (string, error) {
		before, err := look(ctx)
		lost, e := pass(ctx)
		if err := errors.Join(err, e); err != nil {
			return "", err
		}
		after, err := check(ctx)
		return fmt.Sprintf("%d packets were dropped; %s%s", lost, before, after), err
	}
	return f
}

// lose brings it about, and returns once packets were lost.
func lose(ctx context.Context, c network, paths []cluster.Path, provoke func(context.Context) error) error {
	for _, path := range paths {
		if err := c.Drop(ctx, path); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, networkLimit,
		fmt.Errorf("want packets to be lost within %v, but none were", networkLimit))
	defer cancel()
	for {
		if err := provoke(ctx); err != nil {
			return err
		}
		for _, path := range paths {
			if n, err := c.Dropped(ctx, path); err != nil || n > 0 {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
