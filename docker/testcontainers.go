package docker

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

const (
	reaperOff    = "TESTCONTAINERS_RYUK_DISABLED"
	hostOverride = "TESTCONTAINERS_HOST_OVERRIDE"
)

// preparation is done once: the settings of testcontainers are the process's own, it
// reads its environment at the first use and never again.
//
//nolint:gochecknoglobals // stands for what testcontainers keeps in globals
var preparation struct {
	sync.Mutex
	done bool
}

// prepareTestcontainers sets testcontainers up before its first use. Its reaper is an
// image of its own, which removes what a killed process leaves. Where the image is
// missing the reaper is switched off, with a warning: Clean does that work then.
func prepareTestcontainers(ctx context.Context, e *engine, log *lineLog) error {
	preparation.Lock()
	defer preparation.Unlock()
	if preparation.done {
		return nil
	}
	if err := prepare(ctx, e, log); err != nil {
		return err
	}
	preparation.done = true
	return nil
}

func prepare(ctx context.Context, e *engine, log *lineLog) error {
	tclog.SetDefault(tclog.NewNoopLogger()) // it would write to stderr
	// Inside a container it would take the default gateway for the engine's host.
	if _, err := os.Stat("/.dockerenv"); err == nil && os.Getenv(hostOverride) == "" {
		if err := os.Setenv(hostOverride, "127.0.0.1"); err != nil {
			return err
		}
	}
	if os.Getenv(reaperOff) == "true" { // it takes no other word
		return nil
	}
	reaper := testcontainers.ReaperDefaultImage //nolint:staticcheck // nothing else that is exported tells its name
	err := call(ctx, "look for the reaper", func(ctx context.Context) error {
		_, err := e.cli.ImageInspect(ctx, reaper)
		return err
	})
	if !errdefs.IsNotFound(err) {
		return err
	}
	log.printf("warning: the image %s is missing: containers of a run that is killed stay until: lockbench clean",
		reaper)
	if err := os.Setenv(reaperOff, "true"); err != nil {
		return fmt.Errorf("switch the reaper off: %w", err)
	}
	return nil
}
