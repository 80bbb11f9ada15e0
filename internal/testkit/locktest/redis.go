package locktest

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// StartRedis starts an empty redis-server on a free port of the loopback interface, as
// a server of the user's own, and returns its address. In args, which go to the server,
// {port} stands for the port. The server is killed when the test ends. Without a
// redis-server it does what NeedRedis does.
func StartRedis(t testing.TB, args ...string) (addr string) {
	t.Helper()
	return StartServer(t, NeedRedis(t), args...)
}

// StartServer is StartRedis with the server at path.
func StartServer(t testing.TB, path string, args ...string) (addr string) {
	t.Helper()
	var err error
	for range 5 { // another process may take the port between the look and the start
		if addr, err = tryStartRedis(t, path, args); err == nil {
			return addr
		}
	}
	t.Fatal(err)
	return ""
}

func tryStartRedis(t testing.TB, path string, args []string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := l.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	if err := l.Close(); err != nil {
		return "", err
	}
	all := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}
	for _, a := range args {
		all = append(all, strings.ReplaceAll(a, "{port}", port))
	}
	cmd := exec.Command(path, all...)
	dieWithParent(cmd)
	output, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	started, ready, ended := make(chan error, 1), make(chan string, 1), make(chan struct{})
	go func() {
		// The kernel counts the starting thread as the parent: keep it until the end.
		runtime.LockOSThread()
		defer close(ended)
		err := cmd.Start()
		if started <- err; err != nil {
			return
		}
		var said []string
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if said = append(said, lines.Text()); strings.Contains(lines.Text(), "Ready to accept connections") {
				select {
				case ready <- "":
				default: // it listens on two ports
				}
			}
		}
		_ = cmd.Wait() // killed, or told below
		select {
		case ready <- strings.Join(said, "\n"):
		default:
		}
	}()
	if err := <-started; err != nil {
		return "", err
	}
	if said := <-ready; said != "" {
		<-ended
		return "", fmt.Errorf("redis-server %s ended at once: %s", strconv.Quote(strings.Join(all, " ")), said)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails if it has ended
		<-ended
	})
	return addr, nil
}
