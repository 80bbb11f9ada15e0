package survey

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TrixieRoot is where the root of Debian 13 is, in which its libraries are played.
const TrixieRoot = "/var/lib/lockbench-trixie"

// trixie is the system in it.
const trixie = "Debian 13"

// Trixie lists what Debian 13 has newer versions of, played in a root of that release. It needs root, debootstrap and no container.
func Trixie() []Library {
	const within = "chroot " + TrixieRoot + " "
	all := slices.DeleteFunc(Libraries(), func(l Library) bool { return l.Worker == "" }) // of Go the module requires the version
	for i, l := range all {
		confirm, upstream := map[string]string{}, map[string]string{}
		maps.Copy(confirm, l.Confirm)
		maps.Copy(upstream, l.Upstream)
		// django-redis gives the client a pool of its own, whose connections do not try again.
		if l.Language == "Python" && !strings.HasPrefix(l.Name, "django-redis") {
			confirm["A11"] = "/usr/bin/python3 examples/confirm/redis_py_resend.py"
			if strings.Contains(l.Worker, "asyncio") {
				confirm["A11"] = "/usr/bin/python3 examples/confirm/redis_asyncio_resend.py"
			}
			upstream["A11"] = "https://github.com/redis/redis-py/issues/3554"
			l.Promises += " Since version 6 the client sends a command again if its connection breaks, as it documents."
			l.Safely = "Connect with retry=Retry(NoBackoff(), 0) for the lock, or look after a refusal whether the key has your own token. " + l.Safely
		}
		for about, script := range confirm {
			confirm[about] = within + strings.Replace(script, "examples/", "/lockbench/examples/", 1)
		}
		all[i].Promises, all[i].Safely, all[i].Confirm, all[i].Upstream = l.Promises, l.Safely, confirm, upstream
		if l.Untimed != "" {
			all[i].Untimed = within + strings.Replace(l.Untimed, "examples/", "/lockbench/examples/", 1)
		}
		all[i].Worker = within + strings.Replace(l.Worker, "examples/", "/lockbench/examples/", 1)
		all[i].Version = append(strings.Fields(within), l.Version...)
	}
	return all
}

// InstallTrixie makes the root, unless it is there, has the packages installed in it, and brings the workers there.
func (s Survey) InstallTrixie(ctx context.Context, libraries []Library) error {
	if _, err := os.Stat(filepath.Join(TrixieRoot, "usr/bin/apt-get")); err != nil {
		fmt.Fprintln(s.Log, "debootstrap trixie", TrixieRoot)
		if _, err := s.run(ctx, []string{"debootstrap", "--variant=minbase", "trixie", TrixieRoot}); err != nil {
			return fmt.Errorf("want a root of Debian 13 in %s (as root, with Debian's debootstrap): %w", TrixieRoot, err)
		}
	}
	s.install(ctx, libraries, "chroot", TrixieRoot)
	if _, err := s.run(ctx, []string{"mkdir", "-p", TrixieRoot + "/lockbench"}); err != nil {
		return err
	}
	_, err := s.run(ctx, []string{"cp", "-r", "examples", TrixieRoot + "/lockbench/"})
	return err
}
