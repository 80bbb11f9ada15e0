package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// upWithClocks starts a cluster whose clocks can be set.
func upWithClocks(tb testing.TB, masters, replicas int) *Cluster {
	tb.Helper()
	needDocker(tb)
	c, err := New(tb.Context(), cluster.Topology{Masters: masters, Replicas: replicas}, Options{Clocks: true})
	must(tb, err)
	tb.Cleanup(func() {
		must(tb, c.Close())
		nothingLeft(tb, c.ID())
	})
	return c
}

// wantAhead asks a server for its time.
func wantAhead(tb testing.TB, c *Cluster, name string, want time.Duration) {
	tb.Helper()
	before := time.Now()
	reply, err := c.Do(soon(tb), name, "TIME")
	must(tb, err)
	shown, err := cluster.ReadTime(reply)
	must(tb, err)
	half := time.Since(before) / 2
	if got := shown.Sub(before.Add(half)); (got - want).Abs() > half+time.Millisecond {
		tb.Errorf("the clock of %s is %v ahead, want %v ± %v", name, got, want, half)
	}
}

func TestSetClock(t *testing.T) {
	c := upWithClocks(t, 1, 1)
	ctx := soon(t)
	conn := dial(t, c, "A", "master")
	wantAhead(t, c, "master", 0)
	mustDo(t, conn, "SET", "early", "v", "PX", "60000")
	mustDo(t, conn, "SET", "late", "v", "PX", "7200000")
	must(t, c.SetClock(ctx, "master", time.Hour, 1))
	wantAhead(t, c, "master", time.Hour)
	wantAhead(t, c, "replica", 0)
	if value(t, c, "master", "early").Exists {
		t.Error("the clock jumped past a TTL and the key is still there")
	}
	must(t, c.SetClock(ctx, "master", -time.Hour, 1))
	wantAhead(t, c, "master", -time.Hour)
	if ttl := value(t, c, "master", "late").TTL; ttl < 2*time.Hour {
		t.Errorf("a key of 2h has %v left after the clock went back by 1h, want more", ttl)
	}
	mustDo(t, conn, "SET", "brief", "v", "PX", "60000")
	must(t, c.SetClock(ctx, "master", -time.Hour, 1000))
	for value(t, c, "master", "brief").Exists {
		must(t, ctx.Err())
		time.Sleep(10 * time.Millisecond)
	}

	must(t, c.Kill(ctx, "master"))
	must(t, c.Restart(ctx, "master"))
	wantAhead(t, c, "master", 0)
	if err := c.SetClock(ctx, "master", 0, 0); err == nil {
		t.Error("a clock was made to stand still")
	}
}

func TestClocksNotAskedFor(t *testing.T) {
	c := up(t, 1, 0)
	if _, err := c.Clocks(); err == nil {
		t.Error("it says that clocks can be set")
	}
	if err := c.SetClock(soon(t), "master", time.Hour, 1); err == nil {
		t.Error("a clock was set")
	}
}

// imageLike makes an image for the test: lockbench's own, changed by a shell command.
func imageLike(t *testing.T, name, change string) {
	t.Helper()
	needDocker(t)
	e, err := connect(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, e.close()) })
	dockerfile := []byte("FROM " + Image + "\nRUN " + change + "\n")
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	must(t, w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile))}))
	_, err = w.Write(dockerfile)
	must(t, errors.Join(err, w.Close()))
	result, err := e.cli.ImageBuild(t.Context(), &files, client.ImageBuildOptions{Tags: []string{name}, Remove: true, ForceRemove: true, Version: build.BuilderV1})
	must(t, err)
	must(t, errors.Join(buildError(result.Body), result.Body.Close()))
	t.Cleanup(func() {
		_, err := e.cli.ImageRemove(context.Background(), name, client.ImageRemoveOptions{Force: true})
		must(t, err)
	})
}

func TestImagesUnfitForClocks(t *testing.T) {
	for name, change := range map[string]string{
		"without-libfaketime": `rm -r /usr/lib/*/faketime`,
		// As a container ends whose server has a segmentation fault, and as Redis 8.0 of Debian 13 does.
		"crashes-under-libfaketime": `mv /usr/bin/redis-server /usr/bin/sound && ` +
			`printf '#!/bin/sh\n[ -z "$LD_PRELOAD" ] || exit 139\nexec sound "$@"\n' >/usr/bin/redis-server && chmod +x /usr/bin/redis-server`,
	} {
		t.Run(name, func(t *testing.T) {
			image := "lockbench/test-" + name + ":" + newID()
			imageLike(t, image, change)
			c, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Image: image, Clocks: true})
			must(t, err)
			t.Cleanup(func() {
				must(t, c.Close())
				nothingLeft(t, c.ID())
			})
			if how, err := c.Clocks(); err == nil {
				t.Errorf("it says that clocks can be set, %s", how)
			}
			if err := c.SetClock(soon(t), "master", time.Hour, 1); err == nil {
				t.Error("a clock was set")
			}
			wantAhead(t, c, "master", 0)
		})
	}
}
