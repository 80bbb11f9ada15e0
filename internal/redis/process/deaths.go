package process

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/redis/cluster"
)

var _ cluster.DeathWatcher = (*Cluster)(nil)

// answerLimit is how long a server is asked whether it lives before its process is looked at.
const answerLimit = time.Second

// Death looks at every server's process, and returns the first that ended though nobody of
// the run killed it, or nil.
func (c *Cluster) Death(ctx context.Context) error {
	for _, s := range c.Machines {
		r := s.latest()
		if r == nil || r.wanted.Load() || r.answers(ctx) { // the dying is told from the living by an answer alone
			continue
		}
		if r.gone(ctx) {
			<-r.done // it comes within the drain of its output
			c.Deaths.Report(s.death(r))
		}
	}
	return c.Deaths.First()
}

// watch reports the death of a process if nobody wanted it.
func (c *Cluster) watch(s *server, r *run) {
	c.Links.Go(func(context.Context) { // it ends at Close, which kills all
		if <-r.done; !r.wanted.Load() {
			c.Deaths.Report(s.death(r))
		}
	})
}

// death is the end of a run, which has ended.
func (s *server) death(r *run) *cluster.DeathError {
	how := "exit status 0"
	if r.exit != nil {
		how = r.exit.Error()
	}
	return &cluster.DeathError{Node: s.node.Name, How: fmt.Sprintf("process %d, %s", r.process.Pid, how), Log: r.out.String()}
}

// answers reports whether the process does, soon.
func (r *run) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	pid, err := askProcessID(ctx, r.addr())
	return err == nil && pid == r.process.Pid
}

// gone looks whether the process has ended, be it that nobody has waited for it yet.
func (r *run) gone(ctx context.Context) bool {
	if r.ended() {
		return true
	}
	p, err := osproc.Find(ctx, r.process.Pid)
	if err == nil {
		var state osproc.State
		if state, err = p.State(ctx); err == nil {
			return state == osproc.Zombie
		}
	}
	return ctx.Err() == nil // there is no such process, and the kernel knew it while it lived
}
