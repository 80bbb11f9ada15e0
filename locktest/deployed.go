package locktest

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/contract"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/locks"
)

// deployed calls check with a deployment of the backend, which it takes down. left tells where goroutines stand that are left behind.
func (r *test) deployed(check func(*contract.Deployment)) (left string, err error) {
	if r.backend.Virtual() {
		return contract.InVirtualTime(r.seed, standstill, r.spec, tokens, check)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	servers, err := r.backend.Open(ctx, cluster.Topology{Masters: r.spec.Masters, Replicas: r.spec.Replicas}, harness.Opening{})
	if err != nil {
		return "", fmt.Errorf("the servers did not come up: %w", err)
	}
	w := contract.On(servers.Cluster, r.spec, servers.KeyPrefix+harness.DefaultKey)
	w.Clock = func() locks.Clock { return worker.Clock{} }
	w.Sleeper, w.Rand = w.Clock(), tokens
	check(w)
	w.Close()
	return "", servers.Close()
}
