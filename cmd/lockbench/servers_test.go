package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	psutil "github.com/shirou/gopsutil/v3/process"
)

// servers finds the redis-server processes whose files are in dir.
func servers(dir string) ([]int32, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	all, err := psutil.Processes()
	if err != nil {
		return nil, err
	}
	var found []int32
	for _, p := range all {
		name, err := p.Name()
		if err != nil || !strings.HasPrefix(name, "redis-server") {
			continue // ended meanwhile, or another program
		}
		if cwd, err := p.Cwd(); err == nil && strings.HasPrefix(cwd, dir+string(filepath.Separator)) {
			found = append(found, p.Pid)
		}
	}
	return found, nil
}

// noServers checks that the runs of the script left neither a server nor its directory.
func noServers(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 0, "noservers")
	tmp := ts.Getenv("TMPDIR")
	if tmp == "" {
		ts.Fatalf("TMPDIR is not set")
	}
	pids, err := servers(tmp)
	ts.Check(err)
	if len(pids) > 0 {
		ts.Fatalf("redis-server processes are left: %v", pids)
	}
	left, err := os.ReadDir(tmp)
	ts.Check(err)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "lockbench-") {
			ts.Fatalf("%s is left in %s", e.Name(), tmp)
		}
	}
}
