package osproc_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/osproc"
)

// TestChildrenHaveNoLogin: a child inherits the environment, save the login of the user's own
// servers.
func TestChildrenHaveNoLogin(t *testing.T) {
	t.Setenv("LOCKBENCH_REDIS_USER", "hunter")
	t.Setenv("LOCKBENCH_REDIS_PASSWORD", "c0rrect-h0rse")
	t.Setenv("LOCKBENCH_REDIS_PASSWORD_HINT", "a horse") // which is another variable
	l := osproc.NewLauncher()
	defer l.Stop()
	var out strings.Builder
	cmd := exec.Command("env")
	cmd.Stdout = &out
	if err := l.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if env := out.String(); strings.Contains(env, "hunter") || strings.Contains(env, "c0rrect-h0rse") {
		t.Errorf("the child was told the login:\n%s", env)
	} else if !strings.Contains(env, "LOCKBENCH_REDIS_PASSWORD_HINT=a horse\n") {
		t.Errorf("the child was not told the rest:\n%s", env)
	}
}
