package nemesis_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/redis/cluster"
	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/nemesis"
)

// network is one that can fail in all the ways in which a real one may.
type network struct {
	cluster.Cluster // nil: it is asked for nothing

	refuses cluster.Path // cannot be dropped
	answers bool         // PING is answered whatever is dropped
	loses   int64        // packets

	dropping []cluster.Path
}

func (n *network) CanDrop(context.Context) error { return nil }

func (n *network) Drop(_ context.Context, path cluster.Path) error {
	if path == n.refuses {
		return errors.New("refused")
	}
	n.dropping = append(n.dropping, path)
	return nil
}

func (n *network) Dropped(context.Context, cluster.Path) (int64, error) { return n.loses, nil }

func (n *network) Pass(_ context.Context, path cluster.Path) (int64, error) {
	n.dropping = slices.DeleteFunc(n.dropping, func(p cluster.Path) bool { return p == path })
	return n.loses, nil
}

func (n *network) Do(context.Context, string, ...string) (wire.Reply, error) {
	if n.answers || len(n.dropping) == 0 {
		return wire.Reply{}, nil
	}
	return wire.Reply{}, errors.New("nobody answers")
}

// TestIsolateThatFails: a fault that did not come about leaves nothing dropped, and does
// not pass for one that did.
func TestIsolateThatFails(t *testing.T) {
	for want, n := range map[string]*network{
		"refused": {refuses: cluster.Path{From: "master", To: cluster.Anyone}, loses: 1},
		"want silence from master, but it answers PING": {answers: true, loses: 1},
		"the run is over": {}, // and until then nothing was lost
	} {
		f := made(t, nemesis.Scene{Cluster: n}, "isolate", atMaster)
		ctx, cancel := context.WithCancelCause(ctx)
		if n.loses == 0 {
			cancel(errors.New("the run is over"))
		}
		_, err := f.Start(ctx)
		cancel(nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if len(n.dropping) > 0 {
			t.Errorf("%s: still dropping %v", want, n.dropping)
		}
	}
}

func TestIsolateTellsWhatWasSeen(t *testing.T) {
	n := &network{loses: 3}
	f := made(t, nemesis.Scene{Cluster: n}, "isolate", atMaster)
	_, err := f.Start(ctx)
	must(t, err)
	if want := []cluster.Path{{From: cluster.Anyone, To: "master"}, {From: "master", To: cluster.Anyone}}; !slices.Equal(n.dropping, want) {
		t.Errorf("dropping %v, want %v", n.dropping, want)
	}
	seen, err := f.Stop(ctx)
	if want := "6 packets were dropped; it did not answer PING, and does again"; seen != want || err != nil {
		t.Errorf("seen %q, %v, want %q", seen, err, want)
	}
}

// TestNetworkNeedsOne: what has no network of its own says so.
func TestNetworkNeedsOne(t *testing.T) {
	kinds, err := nemesis.Find([]string{"disconnect", "isolate", "drop-replication"})
	must(t, err)
	for _, k := range kinds {
		if err := k.Unsupported((*embedded.Cluster)(nil)); err == nil || err.Error() != "its servers have no network that is lockbench's to break" {
			t.Errorf("%s on embedded: %v", k.Name, err)
		}
	}
}
