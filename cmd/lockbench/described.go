package main

import (
	"context"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

// described asks a worker of the user's own what its lock is, and returns that lock. lock is the
// name that the user has given, and usual the one that stands in for it where the worker does
// not say what it is: there is no such worker, or it speaks version 1 of the protocol.
//
// command is that of the worker. Nothing is asked of this program's own, which has whatever lock
// it is told, nor where a worker cannot be used.
func described(ctx context.Context, command []string, flag string, backend harness.Backend, lock, usual string) (locks.Spec, error) {
	name := lock
	if name == "" {
		name = usual
	}
	spec, err := libraries.Catalogue().Find(name)
	if err != nil || len(command) == 0 || flag == "" || flag == workerSelf || backend.Virtual() {
		return spec, err
	}
	said, err := worker.Describe(ctx, command, lock, libraries.Catalogue())
	if err != nil {
		return spec, failure(err)
	}
	if lock == "" && said.Protocol > 1 {
		return said.Spec, nil
	}
	return said.Over(spec), nil
}
