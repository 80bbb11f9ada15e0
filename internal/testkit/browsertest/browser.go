// Package browsertest is for tests that look at a page in a headless Chromium: as a reader
// sees it, on a screen of some width, in light or dark, on paper, by mouse or by keyboard.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockbench/lockbench/internal/osproc"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

const (
	browserEnv   = "LOCKBENCH_BROWSER"         // the program, where it is not on PATH under a name of its own
	artefactsEnv = "LOCKBENCH_ARTEFACTS"       // where screenshots are kept; not set: nowhere
	requireEnv   = "LOCKBENCH_REQUIRE_BROWSER" // set to 1, it makes a missing browser a failure
)

// patience is how long one step may take before the test gives up. It only ends what hangs.
const patience = time.Minute

// Browser is a headless Chromium. It reaches the page and this machine, and nothing else.
type Browser struct {
	ctx     context.Context // of chromedp; ends with the test
	profile string          // its directory
}

// Start starts a browser that ends with the test, together with its processes and its
// profile. It takes a second, so tests of a package share one: a test starts it, and its
// subtests open pages.
//
// Without a browser that can be started the test is skipped, or fails if the environment
// has LOCKBENCH_REQUIRE_BROWSER=1.
func Start(t testing.TB) *Browser {
	t.Helper()
	effort.Real(t)
	path, err := find()
	var b *Browser
	if err == nil {
		b, err = launch(t, path, patience)
	}
	switch {
	case err != nil && os.Getenv(requireEnv) == "1":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	return b
}

// find returns the path of a browser.
func find() (string, error) {
	if name := os.Getenv(browserEnv); name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w; want the path of a Chromium or Chrome", browserEnv, err)
		}
		return path, nil
	}
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome", "headless_shell", "chromium-headless-shell",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium not found on PATH. Debian: apt-get install chromium; macOS: brew install chromium; " +
		"another Chromium or Chrome: " + browserEnv + "=PATH")
}

// launch starts the program and waits until it answers, but not for longer than limit. What
// it has started ends with the test.
func launch(t testing.TB, path string, limit time.Duration) (*Browser, error) {
	t.Helper()
	parent, kill := context.WithCancel(context.WithoutCancel(t.Context())) // a test's own context ends before its cleanup
	profile := t.TempDir()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.NoSandbox,                  // there is none in a container without privileges, and pages are our own
		chromedp.ProxyServer("127.0.0.1:9"), // for all but this machine; nobody is there
		chromedp.WSURLReadTimeout(2*limit),  // the limit below comes first
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.SysProcAttr = osproc.Attributes()
			cmd.Cancel = func() error { return osproc.KillGroup(cmd.Process.Pid) }
		}),
	)
	allocator, wait := chromedp.NewExecAllocator(parent, options...)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		kill()
		stop()
		wait() // until the last process has closed its output, and writes to the profile no more
		sweep(profile)
	})

	deadline, release := context.WithTimeout(parent, limit)
	defer release()
	disarm := context.AfterFunc(deadline, kill)
	err := chromedp.Do(ctx)
	if !disarm() {
		return nil, fmt.Errorf("%s does not start within %v: %w", path, limit, errors.Join(deadline.Err(), err))
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	return &Browser{ctx: ctx, profile: profile}, nil
}

// sweep removes what a browser that was killed leaves outside of its profile: a socket, to which
// a link in the profile leads, in a temporary directory of its own.
func sweep(profile string) {
	socket, err := os.Readlink(filepath.Join(profile, "SingletonSocket"))
	if err != nil {
		return // it did not come so far
	}
	dir := filepath.Dir(socket)
	for _, left := range []string{socket, filepath.Join(dir, "SingletonCookie"), dir} {
		_ = os.Remove(left) // it does no harm if it stays
	}
}
