package serve

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// atOnce is how many requests are answered at a time; more are asked to come back.
	atOnce = 256
	// patience is how long a reader may take for the next part of a file.
	patience = 30 * time.Second

	policyPages = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	// A stored report may have been written by anybody. In its sandbox it has an origin of
	// its own, and reaches neither the other pages nor the network.
	policyFiles = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " +
		"img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// guarded refuses what is no reading by a browser of this machine, and sets the headers that
// every answer has.
func (s *server) guarded(next http.Handler) http.Handler {
	slots := make(chan struct{}, atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policyPages)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "The store can only be read: want GET or HEAD.", http.StatusMethodNotAllowed)
			return
		case s.opt.Loopback && !local(r.Host):
			http.Error(w, "This server answers to localhost, 127.0.0.1 and [::1] alone.", http.StatusForbidden)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			h.Set("Retry-After", "1")
			http.Error(w, "Too many requests at once; try again in a second.", http.StatusServiceUnavailable)
		}
	})
}

// local reports whether a Host header names this machine by a name that no other's DNS decides.
func local(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return false
		}
		name = h
	} else if inner, ok := strings.CutPrefix(host, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return false
		}
		name = inner
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// Turns let so many at a time do what takes much memory.
type turns chan struct{}

func newTurns(n int) turns { return make(turns, n) }

// take waits for a turn, and returns what ends it.
func (t turns) take(ctx context.Context) (done func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, refuse(http.StatusServiceUnavailable, "It took too long until it was this request's turn.")
	}
}

// A patientWriter gives a slow reader of a large file more time as long as it reads on.
type patientWriter struct {
	http.ResponseWriter
	now func() time.Time
}

func (w patientWriter) Write(p []byte) (int, error) {
	// A writer without deadlines, as a test has, needs none.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.now().Add(patience))
	return w.ResponseWriter.Write(p)
}
