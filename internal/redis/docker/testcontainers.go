package docker

import (
	"errors"
	"os"
	"sync"

	tclog "github.com/testcontainers/testcontainers-go/log"
)

const (
	reaperOff    = "TESTCONTAINERS_RYUK_DISABLED"
	hostOverride = "TESTCONTAINERS_HOST_OVERRIDE"
)

// prepareTestcontainers sets testcontainers up before its first use, once: its settings are
// the process's own, it reads its environment at the first use and never again.
//
// Its reaper, a container that removes what a killed process leaves, stays off: it keeps a
// connection and a goroutine for each container that is not ended by testcontainers itself,
// and whether there is one would depend on which images a machine happens to have. Clean
// does that work.
//
//nolint:gochecknoglobals // stands for what testcontainers keeps in globals
var prepareTestcontainers = sync.OnceValue(func() error {
	tclog.SetDefault(tclog.NewNoopLogger()) // it would write to stderr
	err := os.Setenv(reaperOff, "true")     // it takes no other word
	// Inside a container it would take the default gateway for the engine's host.
	if _, absent := os.Stat("/.dockerenv"); absent == nil && os.Getenv(hostOverride) == "" {
		err = errors.Join(err, os.Setenv(hostOverride, "127.0.0.1"))
	}
	return err
})
