package main

import (
	"os"
	"strings"

	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/harness"
)

// backends are where the servers of runs can live, the default first.
func backends() []harness.Backend {
	return []harness.Backend{harness.Embedded(), harness.Process(), docker.Backend(), harness.External(harness.Servers{})}
}

// ownBackends are those that bring their own servers, as many as a lock needs, and to which every fault can be done.
func ownBackends() []harness.Backend {
	var own []harness.Backend
	for _, b := range backends() {
		if !b.UsersOwn {
			own = append(own, b)
		}
	}
	return own
}

func namesOf(backends []harness.Backend) []string {
	var names []string
	for _, b := range backends {
		names = append(names, b.Name)
	}
	return names
}

// describe says what some backends are, for the help of a flag.
func describe(backends []harness.Backend) string {
	var all []string
	for _, b := range backends {
		all = append(all, histories.DescribeBackend(b.Name))
	}
	return strings.Join(all, "; ")
}

func backendNames() []string    { return namesOf(backends()) }
func ownBackendNames() []string { return namesOf(ownBackends()) }

// defaultBackend is that of a run whose user names none.
func defaultBackend() string { return backends()[0].Name }

// backendNamed is the one of some backends with that name.
func backendNamed(name string, among []harness.Backend) (harness.Backend, error) {
	for _, b := range among {
		if b.Name == name {
			return b, nil
		}
	}
	return harness.Backend{}, oneOf("backend", name, namesOf(among))
}

// parseServers reads the addresses of the user's own servers. It takes the passwords out of them, as commands that
// repeat a run show them.
func parseServers(redis, register *string) (harness.Servers, error) {
	servers, err := harness.ParseServers(*redis, *register, os.Getenv("LOCKBENCH_REDIS_USER"), os.Getenv("LOCKBENCH_REDIS_PASSWORD"))
	if err == nil {
		*redis, *register = servers.Masters(), servers.Register()
	}
	return servers, err
}
