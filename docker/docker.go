// Package docker has the backend of redis-server in containers. It is the one door to a Docker engine: what does not
// import it links no client of one.
package docker

import (
	"context"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/docker"
)

// Image is the image that containers are made of unless the backend is On another one. It is built if it is missing.
const Image = docker.Image

// Backend returns the backend of redis-server in containers. It can be On an image of the user's own, which must have redis-server
// and sh on its PATH; faults that drop packets want iptables, and wrong clocks libfaketime, as docker/redis/Dockerfile has them.
func Backend() harness.Backend { return containers(Image) }

// containers is the backend of containers of an image.
func containers(image string) harness.Backend {
	return harness.Backend{
		Name:  histories.BackendDocker,
		Title: "redis-server in containers on a network of their own; needs a Docker engine",
		Type:  (*docker.Cluster)(nil),
		Open: func(ctx context.Context, topo cluster.Topology, how harness.Opening) (harness.Opened, error) {
			c, err := docker.New(ctx, topo, docker.Options{Image: image, Log: how.Log, Clocks: how.Clocks})
			if err != nil {
				return harness.Opened{}, err
			}
			return harness.Opened{Cluster: c, LogTo: c.LogTo, Server: c.Product()}, nil
		},
		On:         func(_ context.Context, image string) (harness.Backend, error) { return containers(image), nil },
		Width:      func(processors int) int { return min(4*processors, 16) },
		Containers: true,
	}
}

type (
	// Cleaned is a container or a network of a killed run that was removed, or a run that was left alone.
	Cleaned = docker.Cleaned
	// MissingError says that there is no engine, or no image.
	MissingError = docker.MissingError
)

// Clean removes the containers and networks that killed runs left, and tells each of every one.
func Clean(ctx context.Context, each func(Cleaned)) error { return docker.Clean(ctx, each) }
