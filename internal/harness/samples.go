package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

const (
	// sampleEvery is the time between two looks at the processes of a run.
	sampleEvery = 250 * time.Millisecond
	// sampleRest is how many times as long as a look took the sampler then rests at least:
	// a Docker engine under load takes most of a second.
	sampleRest = 3
	// sampleLimit bounds one look at one process.
	sampleLimit = 2 * time.Second
)

// sampler looks from time to time at what the processes of a run take of the machine.
// What it cannot see becomes a note and disturbs nobody.
type sampler struct {
	targets []target
	kept    []histories.Sample
	notes   []string
}

// target is a process by its name. It may end and be started again.
type target struct {
	name    string
	measure func(context.Context) (osproc.Usage, error)
	alive   func() bool // false: that it cannot be measured is no news
}

// watch adds a process, before start.
func (s *sampler) watch(t target) { s.targets = append(s.targets, t) }

// watchServers adds lockbench's own process, and the servers' if they have any.
func (s *sampler) watchServers(c cluster.Cluster) {
	s.watch(target{
		name:    histories.Harness,
		measure: func(ctx context.Context) (osproc.Usage, error) { return osproc.Measure(ctx, os.Getpid()) },
		alive:   func() bool { return true },
	})
	servers, ok := c.(cluster.Processes)
	if !ok {
		return
	}
	for _, n := range c.Nodes() {
		s.watch(target{
			name:    n.Name,
			measure: func(ctx context.Context) (osproc.Usage, error) { return servers.Usage(ctx, n.Name) },
			alive:   func() bool { return c.Alive(n.Name) },
		})
	}
}

// start looks until stop is called, which looks once more. After stop the sampler has
// what it saw.
func (s *sampler) start(now func() time.Duration) (stop func()) {
	if len(s.targets) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			began := time.Now()
			s.look(ctx, now)
			rest := time.NewTimer(max(sampleEvery, sampleRest*time.Since(began)))
			select {
			case <-rest.C:
			case <-ctx.Done():
			}
			rest.Stop()
		}
	}()
	return func() {
		cancel()
		<-done
		s.look(context.Background(), now)
	}
}

// look takes one sample of every process, of all at once.
func (s *sampler) look(ctx context.Context, now func() time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, sampleLimit)
	defer cancel()
	at := now()
	seen, errs := make([]osproc.Usage, len(s.targets)), make([]error, len(s.targets))
	var looks sync.WaitGroup
	for i, t := range s.targets {
		looks.Go(func() { seen[i], errs[i] = t.measure(ctx) })
	}
	looks.Wait()
	for i, t := range s.targets {
		switch u, err := seen[i], errs[i]; {
		case err == nil:
			s.kept = append(s.kept, histories.Sample{
				Time: at, Process: t.name, PID: u.PID, CPU: u.CPU, Resident: u.Resident, Threads: u.Threads, Stopped: u.Stopped,
			})
		case errors.Is(err, context.Canceled) || dead(err) || !t.alive():
		default:
			s.note(fmt.Sprintf("%s could not be measured: %v", t.name, err))
		}
	}
}

// dead reports whether a process could not be measured because it did not run then. By now it may run again.
func dead(err error) bool {
	return errors.Is(err, osproc.ErrEnded) || errors.Is(err, cluster.ErrNotRunning)
}

// note keeps a note, once.
func (s *sampler) note(text string) {
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// keepSamples writes samples into a run directory, if there are any.
func keepSamples(dir *histories.Dir, samples []histories.Sample) error {
	if len(samples) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := histories.WriteSamples(&b, samples); err != nil {
		return err
	}
	return dir.WriteFile(histories.SamplesFile, b.Bytes())
}
