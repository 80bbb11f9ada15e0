package locks_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench/locks"
)

// startRedis starts an empty redis-server on a free port of the loopback interface.
// It is killed when the test ends, or this process dies.
func startRedis(t *testing.T, path string) func(ctx context.Context) (net.Conn, error) {
	t.Helper()
	var err error
	for range 5 { // another process may take the port between the look and the start
		var dial func(ctx context.Context) (net.Conn, error)
		if dial, err = tryStartRedis(t, path); err == nil {
			return dial
		}
	}
	t.Fatalf("start %s: %v", path, err)
	return nil
}

func tryStartRedis(t *testing.T, path string) (func(ctx context.Context) (net.Conn, error), error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	var output bytes.Buffer
	cmd := exec.Command(path, "--port", strconv.Itoa(addr.Port), "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", t.TempDir())
	cmd.Stdout, cmd.Stderr = &output, &output
	dieWithParent(cmd)

	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The kernel counts the starting thread as the parent: keep it until the end.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // killed below
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill()
		<-ended
	}

	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr.String())
	}
	client := locks.NewClient(dial)
	defer client.Close()
	for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		select {
		case <-ended:
			return nil, fmt.Errorf("redis-server ended at once: %s", output.Bytes())
		default:
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		info, err := client.Info(ctx, "server").Result()
		cancel()
		if err == nil && bytes.Contains([]byte(info), []byte("process_id:"+strconv.Itoa(cmd.Process.Pid)+"\r")) {
			t.Cleanup(stop)
			return dial, nil
		}
	}
	stop()
	return nil, fmt.Errorf("redis-server gave no answer for 10s: %s", output.Bytes())
}

func freeAddr() (*net.TCPAddr, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr), nil
}
