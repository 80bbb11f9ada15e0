package nemesis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/embedded"
	"github.com/lockbench/lockbench/internal/sim"
	"github.com/lockbench/lockbench/nemesis"
)

// memory is that of a client.
type memory struct{ wiped, reborn int }

func (m *memory) Crash(kill func() error) error {
	err := kill()
	if err == nil {
		m.wiped++
	}
	return err
}

func (m *memory) Restart() { m.reborn++ }

func TestCrash(t *testing.T) {
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		gate, m := new(nemesis.Gate), new(memory)
		conn, err := c.Dial(ctx, "A", "master")
		must(t, err)
		if _, err := exchange(conn, "PING"); err != nil {
			t.Error(err)
		}
		must(t, i.Start(ctx, made(t, sceneOf(c, clock, nemesis.Victim{Name: "A", Memory: m, Gate: gate}), "crash", atA)))
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the dead client's connection is still open")
		}
		if _, err := ask(t, c, "master", "PING"); err == nil {
			t.Error("the dead client connects")
		}
		if m.wiped != 1 || m.reborn != 0 {
			t.Errorf("its memory is %+v", m)
		}
		began := clock.Now()
		went := make(chan time.Duration)
		go func() {
			gate.Wait(ctx)
			went <- clock.Now().Sub(began)
		}()
		_ = clock.Sleep(ctx, time.Minute)
		must(t, i.HealAll(ctx))
		if took := <-went; took < time.Minute {
			t.Errorf("the dead client went on after %v", took)
		}
		if m.wiped != 1 || m.reborn != 1 {
			t.Errorf("its memory is %+v", m)
		}
		if _, err := ask(t, c, "master", "PING"); err != nil {
			t.Errorf("the new client does not connect: %v", err)
		}
	})
	if len(ops) != 1 || ops[0].Invoke.Value != "client dies (simulated)" ||
		ops[0].Complete.Value != "1 connection broke; a new client takes its place" {
		t.Errorf("recorded %+v", ops)
	}
}

// ownProcess is a client's process that tells what is done to it.
type ownProcess struct {
	did []string
	err error
}

func (p *ownProcess) do(what string) (string, error) {
	p.did = append(p.did, what)
	return "seen: " + what, p.err
}

func (p *ownProcess) Suspend(context.Context) (string, error) { return p.do("suspend") }
func (p *ownProcess) Resume(context.Context) (string, error)  { return p.do("resume") }
func (p *ownProcess) Kill(context.Context) (string, error)    { return p.do("kill") }
func (p *ownProcess) Restart(context.Context) (string, error) { return p.do("restart") }

// TestOwnProcess checks that of a client that has a process of its own nothing is simulated.
func TestOwnProcess(t *testing.T) {
	p := new(ownProcess)
	ops := on(t, func(i *nemesis.Injector, c *embedded.Cluster, clock *sim.Source) {
		gate := new(nemesis.Gate)
		scene := func(m *memory) nemesis.Scene {
			return sceneOf(c, clock, nemesis.Victim{Name: "A", Memory: m, Gate: gate, Process: p})
		}
		must(t, i.Start(ctx, made(t, scene(nil), "pause", atA)))
		if _, err := ask(t, c, "master", "PING"); err != nil || gate.Wait(ctx) {
			t.Errorf("the pause is simulated, too: %v", err)
		}
		must(t, i.HealAll(ctx))
		must(t, i.Start(ctx, made(t, scene(new(memory)), "crash", atA)))
		if _, err := ask(t, c, "master", "PING"); err != nil {
			t.Errorf("the crash is simulated, too: %v", err)
		}
		must(t, i.HealAll(ctx))

		p.err = errors.New("no such process")
		m := new(memory)
		if err := i.Start(ctx, made(t, scene(m), "crash", atA)); !errors.Is(err, p.err) || m.wiped != 0 {
			t.Errorf("a process that could not be killed: %v, %+v", err, m)
		}
		if err := i.Start(ctx, made(t, scene(nil), "pause", atA)); !errors.Is(err, p.err) {
			t.Errorf("a process that could not be stopped: %v", err)
		}
	})
	if got := strings.Join(p.did, " "); got != "suspend resume kill restart kill suspend" {
		t.Errorf("did %s", got)
	}
	var told []string
	for _, o := range ops {
		told = append(told, o.Invoke.Value, o.Complete.Value)
	}
	want := []string{
		"client stands still (SIGSTOP)", "seen: suspend; after SIGCONT seen: resume",
		"client dies (SIGKILL)", "seen: kill; seen: restart",
	}
	if len(told) < 4 || strings.Join(told[:4], "|") != strings.Join(want, "|") {
		t.Errorf("recorded %q", told)
	}
}
