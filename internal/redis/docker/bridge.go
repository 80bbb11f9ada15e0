package docker

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strings"

	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go/network"
)

// ranges are where a cluster takes its network from: one /24 of the first that has any to
// spare, so that 256 of them run side by side. The others are for machines whose own network,
// or that of a VPN, has all of 10.0.0.0/8.
func ranges() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.231.0.0/16"), netip.MustParsePrefix("172.29.0.0/16"), netip.MustParsePrefix("192.168.0.0/16"),
	}
}

// freeSubnets are the subnets that overlap none of taken, those of one range after the
// other. In each it begins to count at first.
func freeSubnets(taken []netip.Prefix, first byte) []netip.Prefix {
	var free []netip.Prefix
	for _, r := range ranges() {
		for i := range 256 {
			bytes := r.Addr().As4()
			bytes[2] = first + byte(i)
			if subnet := netip.PrefixFrom(netip.AddrFrom4(bytes), 24); !overlaps(subnet, taken) {
				free = append(free, subnet)
			}
		}
	}
	return free
}

// bridge is the network of one cluster.
type bridge struct {
	name    string
	gateway netip.Addr // this machine, as the containers see it
}

// newBridge makes a network in a subnet that is free. It begins to look anywhere, so
// that runs which begin together do not all ask for the same one.
func (e *engine) newBridge(ctx context.Context, labels map[string]string) (bridge, error) {
	taken, err := e.takenPrefixes(ctx)
	if err != nil {
		return bridge{}, err
	}
	var first [1]byte
	_, _ = rand.Read(first[:]) // never fails
	for _, subnet := range freeSubnets(taken, first[0]) {
		b, err := e.tryBridge(ctx, labels, subnet)
		if err != nil && strings.Contains(err.Error(), "overlap") {
			continue // another run was quicker
		}
		return b, err
	}
	return bridge{}, fmt.Errorf("want a free /24 in one of %v, found none; to remove what dead runs left: lockbench clean", ranges())
}

// tryBridge makes the network. Once asked for it is waited for, also when ctx ends: one
// that comes later would not be removed.
func (e *engine) tryBridge(ctx context.Context, labels map[string]string, subnet netip.Prefix) (bridge, error) {
	b := bridge{gateway: subnet.Addr().Next()}
	err := call(context.WithoutCancel(ctx), "create a network", func(ctx context.Context) error {
		n, err := network.New(ctx,
			network.WithLabels(maps.Clone(labels)),
			network.WithIPAM(&apinetwork.IPAM{Config: []apinetwork.IPAMConfig{{Subnet: subnet, Gateway: b.gateway}}}))
		if err == nil {
			b.name = n.Name
		}
		return err
	})
	if err != nil {
		return bridge{}, err
	}
	return b, b.reachable()
}

// reachable reports whether the network is on this machine, so that containers can be
// reached by address. It is not with Docker Desktop, a rootless engine or a remote one.
func (b bridge) reachable() error {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	for _, addr := range addrs {
		if p, err := netip.ParsePrefix(addr.String()); err == nil && p.Addr() == b.gateway {
			return nil
		}
	}
	return &MissingError{
		Want:  "an engine that has its networks on this machine",
		Found: fmt.Sprintf("one whose bridge address %v is not here (Docker Desktop, rootless or remote)", b.gateway),
		Run:   "Run lockbench where dockerd runs, or take: --backend process.",
	}
}

// takenPrefixes are the subnets of all Docker networks and of this machine's interfaces.
func (e *engine) takenPrefixes(ctx context.Context) ([]netip.Prefix, error) {
	var taken []netip.Prefix
	err := call(ctx, "list networks", func(ctx context.Context) error {
		list, err := e.cli.NetworkList(ctx, client.NetworkListOptions{})
		for _, n := range list.Items {
			for _, c := range n.IPAM.Config {
				taken = append(taken, c.Subnet)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if p, err := netip.ParsePrefix(addr.String()); err == nil {
			taken = append(taken, p)
		}
	}
	return taken, nil
}

func overlaps(p netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if p.Overlaps(t) {
			return true
		}
	}
	return false
}
