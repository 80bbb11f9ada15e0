package serve_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/serve"
)

const secret = "nobody may read this"

// TestNoPathLeadsOut asks for a file beside the store, and for one in it that is no run's, by
// every spelling known.
func TestNoPathLeadsOut(t *testing.T) {
	s := open(t)
	id := s.keep(sample{verdict: checker.Pass})
	for _, outside := range []string{"../secret.txt", "secret.txt", "failover/secret.txt"} {
		s.write(outside, secret)
	}
	dir, parent := "/runs/"+id+"/", "/runs/failover/"
	var targets []string
	for _, up := range []string{
		"..", "%2e%2e", "%2E%2E", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae", "....", "..;", "..%5c..", "%2e%2e%5c%2e%2e", ".", "%2e", "",
	} {
		for _, slash := range []string{"/", "%2f", "%2F", "%252f", `\`, "%5c", "//"} {
			targets = append(targets,
				dir+up+slash+"secret.txt", dir+strings.Repeat(up+slash, 2)+"secret.txt", dir+strings.Repeat(up+slash, 3)+"secret.txt",
				dir+"logs/"+strings.Repeat(up+slash, 3)+"secret.txt", parent+up+slash+"secret.txt", parent+up+"/"+up+"/secret.txt",
				"/runs/"+up+slash+up+slash+"secret.txt", "/"+up+slash+"secret.txt",
				"/compare?run="+id+"&run=failover/"+up+slash+"secret.txt",
			)
		}
	}
	targets = append(targets,
		"/runs/failover/secret.txt", "/runs/failover/secret.txt/", "/runs/secret.txt/x/", dir+"%00", dir+"run.json%00.txt", dir+"C:secret.txt",
		dir+"%2f"+strings.TrimPrefix(filepath.ToSlash(s.dir), "/")+"/secret.txt", dir+strings.ReplaceAll(filepath.ToSlash(s.dir), "/", "%2f")+"%2fsecret.txt",
		dir+"logs", dir+"logs/", dir+"logs/logs/x", dir+"...", dir+strings.Repeat("a", 300),
	)
	for _, target := range targets {
		res := s.ask(http.MethodGet, target)
		if to := res.Header.Get("Location"); to != "" { // to the same path, cleaned
			res = s.ask(http.MethodGet, to)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), secret) {
			t.Errorf("GET %s shows the file", target)
		}
		if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusBadRequest {
			t.Errorf("GET %s: %s, want 404 or 400", target, res.Status)
		}
	}
	contains(t, s.get(http.StatusOK, dir+"run.json"), `"scenario": "failover"`) // the same way, with a name that is one
}

// TestMalformedIDs are refused before anything is opened.
func TestMalformedIDs(t *testing.T) {
	s := open(t)
	id := s.keep(sample{})
	for _, bad := range []string{
		"a", "a/", "/a", "a/b/c", "../a", "a/..", "a/.b", ".a/b", "a%00/b", "a/b%0a", "%E2%80%AE/b", "a b/c", strings.Repeat("a", 201) + "/b", `a\b/c`, "", "%3Cscript%3E/x",
	} {
		for _, target := range []string{"/compare?run=" + id + "&run=" + bad, "/compare?run=" + bad + "&run=" + id} {
			lacks(t, s.get(http.StatusBadRequest, target), "<script", "\u202e")
		}
	}
	for target, status := range map[string]int{
		"/compare": 400, "/compare?run=" + id: 400, "/compare?run=" + strings.Repeat(id+"&run=", 3): 400, "/compare?run=a/b&run=" + id: 404,
		"/runs/failover/gone/": 404, "/runs/failover/gone/details": 404, "/runs/failover/gone/report.html": 404, "/runs/gone/latest": 404,
		"/runs/failover/.hidden/": 400, "/runs/a%20b/c/details": 400, "/nothing": 404, "/favicon.ico": 404,
	} {
		s.get(status, target)
	}
}

// TestLinks follows the link latest, and none that leads out of a run.
func TestLinks(t *testing.T) {
	s := open(t)
	s.write("../elsewhere/run.json", `{"schema":1,"scenario":"`+secret+`"}`)
	s.write("../elsewhere/history.jsonl", secret)
	s.write("../elsewhere/report.html", secret)
	id := s.keep(sample{verdict: checker.Pass})
	other := s.keep(sample{verdict: checker.Fail})
	out := filepath.Join(filepath.Dir(s.dir), "elsewhere")
	s.link(out, "absolute")                     // a scenario
	s.link("../elsewhere", "relative")          // the same
	s.link(out, "failover/absolute")            // a run
	s.link("../../elsewhere", "failover/rel")   // the same
	s.link("round", "failover/round")           // a loop
	s.link("other", "around")                   // a loop of two
	s.link("around", "other")                   //
	s.link(out, id+"/logs")                     // a directory of a run
	s.link(out+"/history.jsonl", id+"/abs.txt") // a file
	s.link("../../../elsewhere/history.jsonl", id+"/rel.txt")
	s.link("../../"+other+"/run.json", id+"/neighbour.json") // of another run
	s.link("loop.txt", id+"/loop.txt")
	s.link("run.json", id+"/inside.json") // within the run
	s.link(out+"/report.html", other+"/report.html")
	for _, name := range []string{"run.json", "history.jsonl", "report.html", "details", ""} {
		for _, run := range []string{"absolute/x", "relative/x", "failover/absolute", "failover/rel", "failover/round", "around/x", "failover/absolute/"} {
			lacks(t, s.get(http.StatusNotFound, "/runs/"+strings.TrimSuffix(run, "/")+"/"+name), secret, s.dir)
		}
	}
	for _, name := range []string{"logs/history.jsonl", "abs.txt", "rel.txt", "neighbour.json", "loop.txt"} {
		lacks(t, s.get(http.StatusNotFound, "/runs/"+id+"/"+name), secret, s.dir)
	}
	lacks(t, s.get(http.StatusNotFound, "/runs/"+other+"/report.html"), secret, s.dir)
	contains(t, s.get(http.StatusOK, "/runs/"+id+"/inside.json"), `"phase": "checked"`)
	lacks(t, s.get(http.StatusOK, "/runs/"+id+"/details"), "abs.txt", "rel.txt", "neighbour.json", "loop.txt", secret)

	var list struct{ Runs []struct{ ID string } }
	s.json("/?format=json", &list)
	if len(list.Runs) != 2 {
		t.Errorf("listed are %v, want the 2 runs, each once", list.Runs)
	}
	res := s.ask(http.MethodGet, "/runs/failover/latest")
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusFound || to != "/runs/"+other+"/report.html" {
		t.Errorf("latest: %s to %q, want the report of %s", res.Status, to, other)
	}
	contains(t, s.get(http.StatusOK, "/runs/failover/latest/run.json"), `"scenario": "failover"`)
}

// TestLinkedFilesOfARun: what leads out of the store is not drawn, judged or compared either.
func TestLinkedFilesOfARun(t *testing.T) {
	for _, name := range []string{"run.json", "history.jsonl", "results.json", "commands.jsonl"} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			id := s.keep(sample{verdict: checker.Pass})
			s.write("../outside", `{"schema":1,"scenario":"`+secret+`","verdict":"pass","client":"`+secret+`"}`)
			if err := os.RemoveAll(filepath.Join(s.dir, id, name)); err != nil {
				t.Fatal(err)
			}
			s.link(filepath.Join(filepath.Dir(s.dir), "outside"), id+"/"+name)
			for _, target := range []string{"/", "/runs/" + id + "/report.html", "/runs/" + id + "/details", "/compare?run=" + id + "&run=" + id, "/matrix"} {
				body, err := io.ReadAll(s.ask(http.MethodGet, target).Body)
				if err != nil {
					t.Fatal(err)
				}
				lacks(t, string(body), secret)
			}
		})
	}
}

// TestNoRegularFile: a pipe that nobody writes to keeps no request waiting.
func TestNoRegularFile(t *testing.T) {
	s := open(t)
	id := s.keep(sample{verdict: checker.Pass})
	for _, name := range []string{"run.json", "history.jsonl", "results.json", "report.html"} {
		path := filepath.Join(s.dir, id, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := mkfifo(path); err != nil {
			t.Skipf("no named pipes on %s: %v", runtime.GOOS, err)
		}
	}
	contains(t, s.get(http.StatusOK, "/"), "damaged", "not a regular file")
	contains(t, s.get(http.StatusNotFound, "/runs/"+id+"/history.jsonl"), "not a regular file")
	contains(t, s.get(http.StatusNotFound, "/runs/"+id+"/report.html"), "not a regular file")
	contains(t, s.get(http.StatusOK, "/runs/"+id+"/details"), "not a regular file")
	contains(t, s.get(http.StatusOK, "/compare?run="+id+"&run="+id), "not a regular file")
}

func TestNewRefusesWhatIsNoStore(t *testing.T) {
	s := open(t)
	id := s.keep(sample{})
	for dir, want := range map[string]string{
		filepath.Join(s.dir, "gone"):                 "no such file or directory",
		filepath.Join(s.dir, id, "run.json"):         "it is a file",
		filepath.Join(s.dir, filepath.FromSlash(id)): "is a run; want the store that it is in",
	} {
		_, err := serve.New(serve.Options{Store: dir, Draw: s.draw, Now: s.clock})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q", dir, err, want)
		}
	}
	if _, err := serve.New(serve.Options{Store: s.dir}); err == nil {
		t.Error("a server that can draw nothing is made")
	}
}

// TestStoreGoneAndBack: the store is removed while it is served, and made again.
func TestStoreGoneAndBack(t *testing.T) {
	s := open(t)
	s.keep(sample{})
	contains(t, s.get(http.StatusOK, "/"), "1 run,")
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	s.later()
	contains(t, s.get(http.StatusServiceUnavailable, "/"), "The store cannot be read: no such file or directory.")
	s.write("x/y/run.json", `{"schema":1,"scenario":"back"}`)
	s.later()
	contains(t, s.get(http.StatusOK, "/"), "back")
}
