package node

import (
	"os"
	"os/exec"
	"testing"

	psutil "github.com/shirou/gopsutil/v3/process"
)

// A process that was killed has ended, though nobody has waited for it.
func TestOwnerThatNobodyBuries(t *testing.T) {
	me, err := Self()
	must(t, err)
	child := exec.Command("sleep", "1000")
	must(t, child.Start())
	t.Cleanup(func() {
		_ = child.Process.Kill() // once more, or where the test has failed
		_ = child.Wait()         // "signal: killed"
	})
	p, err := psutil.NewProcess(int32(child.Process.Pid))
	must(t, err)
	started, err := p.CreateTime()
	must(t, err)
	o := Owner{PID: p.Pid, Started: started, Host: me.Host}
	if o.Gone(me.Host) {
		t.Error("it is gone before it was killed")
	}
	must(t, child.Process.Kill())
	for ctx := soon(t); !o.Gone(me.Host); {
		must(t, ctx.Err())
	}
}

func TestOwner(t *testing.T) {
	me, err := Self()
	must(t, err)
	if int(me.PID) != os.Getpid() {
		t.Errorf("own process is %d, want %d", me.PID, os.Getpid())
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	must(t, child.Run())
	dead := Owner{PID: int32(child.Process.Pid), Started: me.Started, Host: me.Host}
	changed := func(change func(*Owner)) Owner {
		o := me
		change(&o)
		return o
	}
	for name, tc := range map[string]struct {
		owner Owner
		gone  bool
	}{
		"alive":                        {me, false},
		"dead":                         {dead, true},
		"an id used again":             {changed(func(o *Owner) { o.Started -= 2 * StartSlack.Milliseconds() }), true},
		"an id of the future":          {changed(func(o *Owner) { o.Started += 2 * StartSlack.Milliseconds() }), true},
		"read a little differently":    {changed(func(o *Owner) { o.Started += StartSlack.Milliseconds() / 2 }), false},
		"on another host":              {changed(func(o *Owner) { o.Host += "x" }), false},
		"dead, but on another host":    {Owner{PID: dead.PID, Started: dead.Started, Host: me.Host + "x"}, false},
		"nobody":                       {Owner{}, false},
		"nobody on this host":          {Owner{Host: me.Host}, false},
		"a process that cannot be one": {Owner{PID: -1, Host: me.Host}, false},
	} {
		if got := tc.owner.Gone(me.Host); got != tc.gone {
			t.Errorf("%s: gone is %v, want %v", name, got, tc.gone)
		}
	}
}
