package docker

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/redis/cluster"
)

// fakeEngine answers pings like an engine, and everything else with handle.
func fakeEngine(t *testing.T, handle http.HandlerFunc) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/_ping") {
			w.Header().Set("Api-Version", "1.41")
			w.Header().Set("Ostype", "linux")
			return
		}
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	engineAt(t, "tcp://"+s.Listener.Addr().String())
}

// engineAt makes host the engine, whatever else this machine's environment says of one.
func engineAt(t *testing.T, host string) {
	t.Helper()
	t.Setenv("DOCKER_HOST", host)
	t.Setenv("DOCKER_CERT_PATH", "")
	t.Setenv("DOCKER_API_VERSION", "")
}

func TestMissingEngine(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "docker.sock")
	engineAt(t, "unix://"+socket)
	_, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{})
	want := "backend docker needs a Docker engine, found none at unix://" + socket +
		". Debian/Ubuntu: apt-get install docker.io, then systemctl start docker."
	var missing *MissingError
	if !errors.As(err, &missing) || err.Error() != want {
		t.Errorf("New: %v\nwant %s", err, want)
	}
	if err := Clean(t.Context(), nil); !errors.As(err, &missing) {
		t.Errorf("Clean: %v, want a *MissingError", err)
	}
}

func TestMissingImage(t *testing.T) {
	built := false
	fakeEngine(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/build") {
			built = true
			_, _ = w.Write([]byte(`{"stream":"Step 1/4 : ARG BASE"}` + "\n" + `{"error":"no such host"}` + "\n"))
			return
		}
		http.Error(w, `{"message":"no such image"}`, http.StatusNotFound)
	})
	var told strings.Builder
	err := EnsureImage(t.Context(), &told)
	want := `backend docker needs the image lockbench/redis:7, found none, and building it failed: ` +
		`no such host (after "Step 1/4 : ARG BASE"). Run: lockbench image; it can do without a registry.`
	var missing *MissingError
	if !errors.As(err, &missing) || err.Error() != want {
		t.Errorf("EnsureImage: %v\nwant %s", err, want)
	}
	if !built || !strings.Contains(told.String(), "building the image lockbench/redis:7") {
		t.Errorf("built: %v, said: %q", built, told.String())
	}
}

// An image of the user's own is asked of the registry, and never built.
func TestMissingImageOfTheUser(t *testing.T) {
	var asked []string
	fakeEngine(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		http.Error(w, `{"message":"no such image"}`, http.StatusNotFound)
	})
	_, err := New(t.Context(), cluster.Topology{Masters: 1}, Options{Image: "example.com/mine:1"})
	missing, ok := errors.AsType[*MissingError](err)
	if !ok || missing.Want != "the image example.com/mine:1" || !strings.Contains(missing.Found, "pulling it failed") {
		t.Errorf("New: %v", err)
	}
	if last := asked[len(asked)-1]; !strings.HasSuffix(last, "/images/create") {
		t.Errorf("the engine was asked %v, want the image to be pulled in the end", asked)
	}
}

// An engine that answers no more does not hang the run.
func TestHangingEngine(t *testing.T) {
	fakeEngine(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := New(ctx, cluster.Topology{Masters: 1}, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("New: %v, want %v", err, context.DeadlineExceeded)
	}
}

// The limit of one request names the request.
func TestCallNamesWhatHangs(t *testing.T) {
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	err := call(ctx, "remove a container", func(ctx context.Context) error { return ctx.Err() })
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("call: %v, want both the cause and the error", err)
	}
}

func TestBadTopology(t *testing.T) {
	for _, topo := range []cluster.Topology{{}, {Masters: 1, Replicas: -1}} {
		if c, err := New(t.Context(), topo, Options{}); err == nil {
			must(t, c.Close())
			t.Errorf("New(%+v) succeeded", topo)
		}
	}
}

func TestBuildError(t *testing.T) {
	tests := []struct{ stream, want string }{
		{"", ""},
		{`{"stream":"Step 1\n"}{"aux":{"ID":"sha256:1"}}`, ""},
		{`{"stream":"Step 2\n"}{"errorDetail":{"message":"x"},"error":"x"}`, `x (after "Step 2")`},
		{`{"stream":"cut of`, "unexpected EOF"},
	}
	for _, tt := range tests {
		err := buildError(strings.NewReader(tt.stream))
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("buildError(%q) = %v, want %q", tt.stream, err, tt.want)
		}
	}
}
