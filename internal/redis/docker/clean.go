package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/node"
)

// The labels of everything that belongs to a cluster.
const (
	runLabel   = "lockbench.run"   // the id of the run
	ownerLabel = "lockbench.owner" // its process, a node.Owner in JSON
)

const (
	// removeTries bounds how often something is removed again that was in use, or was
	// still being made, when it was removed first.
	removeTries = 150
	removePause = 100 * time.Millisecond
)

// ownLabels are the labels of run, owned by this process.
func ownLabels(run string) (map[string]string, error) {
	me, err := node.Self()
	if err != nil {
		return nil, fmt.Errorf("look at the own process: %w", err)
	}
	owner, err := json.Marshal(me)
	return map[string]string{runLabel: run, ownerLabel: string(owner)}, err
}

// Clean removes the containers and networks of runs whose process on this host is
// gone, and nothing else. It tells each what it removed, and which runs it left alone
// and why, as it goes; nil: nobody.
func Clean(ctx context.Context, each func(Cleaned)) error {
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(e.clean(ctx, each), e.close())
}

// Cleaned is what became of one thing, or of a run that was left alone.
type Cleaned struct {
	Run  string `json:"run"`
	Kind string `json:"kind,omitempty"` // container, network, or keys on a server; empty: all of the run
	Name string `json:"name,omitempty"`
	// Left is why the run was left alone; empty: the thing was removed.
	Left string `json:"left,omitempty"`
}

// String is c in a sentence.
func (c Cleaned) String() string {
	if c.Left != "" {
		return fmt.Sprintf("left run %s alone: %s", c.Run, c.Left)
	}
	return fmt.Sprintf("removed %s %s of run %s", c.Kind, c.Name, c.Run)
}

func (e *engine) clean(ctx context.Context, each func(Cleaned)) error {
	if each == nil {
		each = func(Cleaned) {}
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	things, err := e.list(ctx, runLabel)
	if err != nil {
		return err
	}
	owners := make(map[string]node.Owner) // by run
	for _, t := range things {
		var o node.Owner
		if json.Unmarshal([]byte(t.labels[ownerLabel]), &o) != nil {
			o = node.Owner{} // nobody's: left alone
		}
		owners[t.labels[runLabel]] = o
	}
	var errs []error
	for _, run := range slices.Sorted(maps.Keys(owners)) {
		if o := owners[run]; !o.Gone(host) {
			each(Cleaned{Run: run, Left: fmt.Sprintf("process %d on host %q is not known to have ended", o.PID, o.Host)})
			continue
		}
		if err := e.remove(ctx, run); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, t := range things {
			if t.labels[runLabel] == run {
				each(Cleaned{Run: run, Kind: t.kind, Name: t.name})
			}
		}
	}
	return errors.Join(errs...)
}

// thing is a container or a network of ours.
type thing struct {
	kind, id, name string
	labels         map[string]string
}

// list returns the containers and then the networks with label, a key or key=value.
func (e *engine) list(ctx context.Context, label string) ([]thing, error) {
	var things []thing
	filters := make(client.Filters).Add("label", label)
	err := call(ctx, "list containers and networks", func(ctx context.Context) error {
		containers, err := e.cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
		if err != nil {
			return err
		}
		for _, c := range containers.Items {
			things = append(things, thing{"container", c.ID, strings.TrimPrefix(strings.Join(c.Names, ","), "/"), c.Labels})
		}
		networks, err := e.cli.NetworkList(ctx, client.NetworkListOptions{Filters: filters})
		for _, n := range networks.Items {
			things = append(things, thing{"network", n.ID, n.Name, n.Labels})
		}
		return err
	})
	return things, err
}

// remove removes everything of run, whether it is known here or not: a request that
// was given up may have been carried out later.
func (e *engine) remove(ctx context.Context, run string) error {
	for try := 1; ; try++ {
		things, err := e.list(ctx, runLabel+"="+run)
		if err == nil {
			if len(things) == 0 {
				return nil
			}
			err = e.removeAll(ctx, things)
		}
		if err == nil {
			continue // to see that nothing is left
		}
		if try == removeTries {
			return fmt.Errorf("remove the containers and networks of run %s: %w", run, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove the containers and networks of run %s: %w", run, withCause(ctx, err))
		case <-time.After(removePause):
		}
	}
}

// apart takes all containers but one off their networks, one after the other. Where two leave a network at once the
// engine may lose count of its endpoints: it then keeps the network until it is restarted itself (moby issues 42119 and
// 43286). What is not told here, such as that a container has ended, its removal tells.
func (e *engine) apart(ctx context.Context, containers, networks []thing) {
	for _, c := range containers[min(1, len(containers)):] {
		for _, n := range networks {
			_ = call(ctx, "disconnect container "+c.name, func(ctx context.Context) error {
				_, err := e.cli.NetworkDisconnect(ctx, n.id, client.NetworkDisconnectOptions{Container: c.id, Force: true})
				return err
			})
		}
	}
}

// removeAll removes the containers and then the networks.
func (e *engine) removeAll(ctx context.Context, things []thing) error {
	var containers, networks []thing
	for _, t := range things {
		if t.kind == "container" {
			containers = append(containers, t)
		} else {
			networks = append(networks, t)
		}
	}
	e.apart(ctx, containers, networks)
	errs := make([]error, len(containers), len(things))
	var removing sync.WaitGroup
	for i, t := range containers {
		removing.Go(func() {
			errs[i] = call(ctx, "remove container "+t.name, func(ctx context.Context) error {
				_, err := e.cli.ContainerRemove(ctx, t.id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
				return err
			})
		})
	}
	removing.Wait()
	for _, t := range networks {
		errs = append(errs, call(ctx, "remove network "+t.name, func(ctx context.Context) error {
			_, err := e.cli.NetworkRemove(ctx, t.id, client.NetworkRemoveOptions{})
			return err
		}))
	}
	return errors.Join(slices.DeleteFunc(errs, errdefs.IsNotFound)...)
}
