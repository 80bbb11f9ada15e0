package serve_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/serve"
	"github.com/lockbench/lockbench/internal/report"
)

// TestCrowd asks for a drawing that does not end more often than the server answers at a
// time. The others are refused at once, who goes away leaves his place, and in the end all
// get the one drawing.
func TestCrowd(t *testing.T) {
	s := open(t)
	id := s.keep(sample{})
	const places = 256
	drawing, goOn := make(chan struct{}), make(chan struct{})
	h, err := serve.New(serve.Options{Store: s.dir, Now: s.clock, Draw: func(w io.Writer, _ report.Run) error {
		close(drawing) // a second drawing panics
		<-goOn
		_, err := io.WriteString(w, "drawn")
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil))
		return w
	}
	var all, gone sync.WaitGroup
	one := func(ctx context.Context, wg *sync.WaitGroup, want int) {
		wg.Go(func() {
			w := ask(ctx, "/runs/"+id+"/report.html")
			for w.Header().Get("Retry-After") != "" { // a look of this test's had the place
				w = ask(ctx, "/runs/"+id+"/report.html")
			}
			if w.Code != want {
				t.Errorf("status is %d, want %d", w.Code, want)
			}
		})
	}
	full := func() {
		for ask(t.Context(), "/nothing").Code != http.StatusServiceUnavailable {
			runtime.Gosched() // not all have begun
		}
	}
	one(t.Context(), &all, http.StatusOK)
	<-drawing
	impatient, leave := context.WithCancel(t.Context())
	for range places - 1 {
		one(impatient, &gone, http.StatusServiceUnavailable)
	}
	full()
	leave()
	gone.Wait()
	if code := ask(t.Context(), "/nothing").Code; code != http.StatusNotFound {
		t.Errorf("status is %d, want 404 as there is room again", code)
	}
	for range places - 1 {
		one(t.Context(), &all, http.StatusOK)
	}
	full()
	if w := ask(t.Context(), "/"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status is %d, want 503 and when to come back", w.Code)
	}
	close(goOn)
	all.Wait()
}
