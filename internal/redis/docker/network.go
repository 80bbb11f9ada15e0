package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/moby/moby/api/types/container"
	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/node"
)

// Disconnect takes node off the network of the cluster. What is sent to it gets lost,
// its connections stay open, and new ones come to nothing. A node that is off already
// stays off.
func (c *Cluster) Disconnect(ctx context.Context, name string) error {
	return c.Change(ctx, "disconnect", name, func(ctx context.Context, s *server) error {
		if s.current() == nil {
			return node.NotRunning(name)
		}
		if s.cable() != nil {
			return nil
		}
		c.Replication.LastLook(ctx, name)
		end, err := c.endpoint(ctx, s)
		if err != nil {
			return err
		}
		if end == nil {
			return fmt.Errorf("want it on network %s, found it on none", c.bridge)
		}
		err = call(ctx, "disconnect the container", func(ctx context.Context) error {
			_, err := c.engine.cli.NetworkDisconnect(ctx, c.bridge, client.NetworkDisconnectOptions{Container: s.id()})
			return err
		})
		if err != nil {
			return err
		}
		s.setCable(end)
		if end, err = c.endpoint(ctx, s); err == nil && end != nil {
			err = fmt.Errorf("the engine disconnected it, and it is still on network %s", c.bridge)
		}
		return err
	})
}

// Reconnect puts node back at the same address and under the same name, and returns
// once it answers, if it is alive. A node that is on the network stays there.
func (c *Cluster) Reconnect(ctx context.Context, name string) error {
	return c.Change(ctx, "reconnect", name, func(ctx context.Context, s *server) error {
		old := s.cable()
		if old == nil {
			return nil
		}
		err := call(ctx, "connect the container", func(ctx context.Context) error {
			_, err := c.engine.cli.NetworkConnect(ctx, c.bridge, client.NetworkConnectOptions{
				Container: s.id(),
				EndpointConfig: &apinetwork.EndpointSettings{
					IPAMConfig: &apinetwork.EndpointIPAMConfig{IPv4Address: s.ip},
					Aliases:    old.Aliases,
					MacAddress: old.MacAddress, // else this machine may look for it at the old one for a while
				},
			})
			return err
		})
		if err != nil {
			return err
		}
		s.setCable(nil)
		r := s.current()
		if r == nil {
			return nil
		}
		ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("gave up after %v", startLimit))
		defer cancel()
		return c.answers(ctx, s, r)
	})
}

// endpoint is where the container of s is on the network of the cluster, or nil if it
// is not on it.
func (c *Cluster) endpoint(ctx context.Context, s *server) (*apinetwork.EndpointSettings, error) {
	found, err := c.look(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case found.NetworkSettings == nil:
		return nil, errors.New("the engine does not tell its networks")
	}
	return found.NetworkSettings.Networks[c.bridge], nil
}

// look is what the engine says of the container of s.
func (c *Cluster) look(ctx context.Context, s *server) (said container.InspectResponse, err error) {
	err = call(ctx, "look at the container", func(ctx context.Context) error {
		found, err := c.engine.cli.ContainerInspect(ctx, s.id(), client.ContainerInspectOptions{})
		said = found.Container
		return err
	})
	return said, err
}

// cable is how the server was connected before Disconnect, or nil while it is connected.
func (s *server) cable() *apinetwork.EndpointSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unplugged
}

func (s *server) setCable(end *apinetwork.EndpointSettings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unplugged = end
}
