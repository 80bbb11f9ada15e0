package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// served is a lockbench serve in this process.
type served struct {
	url  string
	code chan int // its exit code
	stop context.CancelFunc
	// stderr may be read when the exit code is there.
	stderr bytes.Buffer
}

func startServing(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &served{code: make(chan int, 1), stop: cancel}
	out, in := io.Pipe()
	go func() {
		code := run(ctx, append([]string{"serve"}, args...), in, &s.stderr)
		_ = in.Close() // a pipe's is never an error
		s.code <- code
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address was printed, exit code %d: %s", <-s.code, s.stderr.String())
	}
	found := regexp.MustCompile(`^Serving .* at (http://\S+/) until Ctrl-C\.\n$`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("printed is %q", line)
	}
	s.url = found[1]
	return s
}

func (s *served) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	res, err := http.Get(s.url + strings.TrimPrefix(path, "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// TestServe keeps a run, serves it and stops.
func TestServe(t *testing.T) {
	store := t.TempDir()
	if code := run(t.Context(), []string{"run", "--scenario", "failover-async-repl", "--out", store}, io.Discard, io.Discard); code != exitExpected {
		t.Fatalf("run: exit code %d", code)
	}
	s := startServing(t, "--store", store, "--addr", "127.0.0.1:0")
	for path, want := range map[string]string{
		"/":                                "failover-async-repl",
		"/matrix":                          "setnx-px-lua",
		"/runs/failover-async-repl/latest": "mutual exclusion",
		"/runs/failover-async-repl/latest/details":      "lease honoured",
		"/runs/failover-async-repl/latest/results.json": `"verdict": "fail"`,
	} {
		if status, body := s.get(t, path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, want %q in\n%s", path, status, want, body)
		}
	}
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--store", store, "--addr", u.Host}, io.Discard, &stderr); code != exitHarness {
		t.Errorf("a second server at %s: exit code %d", u.Host, code)
	}
	if got := stderr.String(); !strings.HasPrefix(got, "lockbench: cannot listen on "+u.Host+": ") || !strings.Contains(got, "address already in use") {
		t.Errorf("stderr is %q", got)
	}
	s.stop()
	if code := <-s.code; code != exitExpected || s.stderr.Len() > 0 {
		t.Errorf("exit code is %d, stderr %q", code, s.stderr.String())
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		_ = c.Close()
		t.Error("it still listens after its end")
	}
}

// TestServeToAll warns, and answers to any name.
func TestServeToAll(t *testing.T) {
	s := startServing(t, "--store", t.TempDir(), "--addr", "0.0.0.0:0")
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+u.Port()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "lab.example"
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status is %s", res.Status)
	}
	s.stop()
	<-s.code
	if !regexp.MustCompile(`^lockbench: warning: \S+ is no loopback address; there is no authentication, .* reads all runs\n$`).Match(s.stderr.Bytes()) {
		t.Errorf("stderr is %q", s.stderr.String())
	}
}
