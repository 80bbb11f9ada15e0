package docker

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// smallEngine has the containers and the network of one run. Like some engines it keeps the network for ever once two
// containers could have left it at once: one was removed while another was on the network too.
type smallEngine struct {
	mu       sync.Mutex
	there    map[string]bool // containers; true: on the network
	network  bool
	confused bool
}

func (e *smallEngine) onNetwork() int {
	n := 0
	for _, on := range e.there {
		if on {
			n++
		}
	}
	return n
}

func (e *smallEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, path, _ := strings.Cut(r.URL.Path, "/v1.41")
	last := path[strings.LastIndex(path, "/")+1:]
	switch {
	case path == "/containers/json":
		list := []map[string]any{}
		for name := range e.there {
			list = append(list, map[string]any{"Id": name, "Names": []string{"/" + name}})
		}
		_ = json.NewEncoder(w).Encode(list)
	case path == "/networks":
		list := []map[string]any{}
		if e.network {
			list = append(list, map[string]any{"Id": "net", "Name": "net"})
		}
		_ = json.NewEncoder(w).Encode(list)
	case path == "/networks/net/disconnect":
		var body struct{ Container string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		e.there[body.Container] = false
	case r.Method == http.MethodDelete && path == "/networks/net":
		if e.confused || len(e.there) > 0 {
			http.Error(w, `{"message":"network net has active endpoints"}`, http.StatusForbidden)
			return
		}
		e.network = false
	case r.Method == http.MethodDelete:
		e.confused = e.confused || e.onNetwork() > 1
		delete(e.there, last)
	default:
		http.Error(w, fmt.Sprintf(`{"message":"no such request: %s"}`, path), http.StatusNotFound)
	}
}

// Containers that leave a network at once make some engines keep it.
func TestContainersLeaveOneByOne(t *testing.T) {
	small := &smallEngine{there: map[string]bool{"master": true, "replica1": true, "replica2": true, "register": true}, network: true}
	fakeEngine(t, small.ServeHTTP)
	e, err := connect(t.Context())
	must(t, err)
	defer func() { must(t, e.close()) }()
	must(t, e.remove(t.Context(), "run"))
	if small.confused || small.network || len(small.there) > 0 {
		t.Errorf("two could leave at once: %v; the network is there: %v; containers that are there: %v", small.confused, small.network, small.there)
	}
}
