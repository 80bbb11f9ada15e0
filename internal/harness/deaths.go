package harness

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// DeathError is a server that ended although nobody of the run had ended it.
type DeathError = cluster.DeathError

// lastLook bounds how long all servers are asked at the end whether they are alive.
const lastLook = 15 * time.Second

// watched plays on servers for as long as none of them ends by itself. If one does, its
// *cluster.DeathError is what is returned, and whatever else broke because of it is not told.
func watched(ctx context.Context, servers cluster.Cluster, play func(context.Context) error) error {
	w, ok := servers.(cluster.DeathWatcher)
	if !ok {
		return play(ctx)
	}
	playing, end := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-w.Died():
			end(errDied)
		case <-playing.Done():
		}
	}()
	err := play(playing)
	end(nil)
	<-ended
	if ctx.Err() != nil { // it was interrupted, and asks nobody any more
		return err
	}
	look, cancel := context.WithTimeoutCause(ctx, lastLook, errors.New("a server did not say within 15s whether it is alive"))
	defer cancel()
	death := w.Death(look)
	if _, died := errors.AsType[*cluster.DeathError](death); died {
		return death
	}
	return errors.Join(err, death)
}

// errDied ends what is played on a server that has died.
var errDied = errors.New("a server ended by itself")
