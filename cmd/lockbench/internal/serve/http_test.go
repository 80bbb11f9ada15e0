package serve_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
)

func TestMethods(t *testing.T) {
	s := open(t)
	id := s.keep(sample{})
	for _, target := range []string{"/", "/matrix", "/runs/" + id + "/run.json", "/nothing", "/style.css"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"} {
			res := s.ask(method, target)
			if res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %s, Allow %q", method, target, res.Status, res.Header.Get("Allow"))
			}
		}
	}
	if res := s.ask(http.MethodHead, "/runs/"+id+"/run.json"); res.StatusCode != http.StatusOK || res.ContentLength <= 0 {
		t.Errorf("HEAD: %s, %d bytes", res.Status, res.ContentLength)
	}
}

// TestStoreOfARun: what is above a run, to which its page leads, is the list of all.
func TestStoreOfARun(t *testing.T) {
	s := open(t)
	s.keep(sample{})
	if res := s.ask(http.MethodGet, "/runs/"); res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/" {
		t.Errorf("/runs/: %s to %q, want the list at /", res.Status, res.Header.Get("Location"))
	}
}

// TestHost: a page of somebody else's whose name leads to this machine learns nothing.
func TestHost(t *testing.T) {
	s := open(t)
	for _, host := range []string{"localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080", "127.1.2.3:80"} {
		s.get(http.StatusOK, "/", "Host", host)
	}
	for _, host := range []string{
		"", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example:8080", "evil.example:127.0.0.1", "0.0.0.0:8080",
		"192.168.1.1", "[::1", "[::1]evil.example", "::1.evil", "localhost:8080.evil.example", "localhost:80@evil.example", "127.0.0.1:x", "[localhost]x",
	} {
		s.get(http.StatusForbidden, "/", "Host", host)
		s.get(http.StatusForbidden, "/runs/a/b/run.json", "Host", host)
	}
}

func TestHeaders(t *testing.T) {
	s := open(t)
	id := s.keep(sample{verdict: checker.Pass})
	s.write(id+"/report.html", "<script>top.location='//evil'</script>")
	s.write(id+"/logs/n1.log", "<script>")
	s.write(id+"/plot.svg", "<svg><script/></svg>")
	drawn := s.keep(sample{})
	const frames = "frame-ancestors 'none'"
	for target, want := range map[string]struct{ kind, policy string }{
		"/":                                {"text/html; charset=utf-8", "default-src 'none'; style-src 'self';"},
		"/?format=json":                    {"application/json", "default-src 'none'; style-src 'self';"},
		"/style.css":                       {"text/css; charset=utf-8", "default-src 'none'; style-src 'self';"},
		"/nothing":                         {"text/html; charset=utf-8", "default-src 'none'; style-src 'self';"},
		"/runs/" + id + "/report.html":     {"text/html; charset=utf-8", "sandbox allow-scripts; default-src 'none';"},
		"/runs/" + drawn + "/report.html":  {"text/html; charset=utf-8", "sandbox allow-scripts; default-src 'none';"},
		"/runs/" + id + "/run.json":        {"application/json", "sandbox allow-scripts;"},
		"/runs/" + id + "/results.json":    {"application/json", "sandbox allow-scripts;"},
		"/runs/" + id + "/history.jsonl":   {"text/plain; charset=utf-8", "sandbox allow-scripts;"},
		"/runs/" + id + "/logs/n1.log":     {"text/plain; charset=utf-8", "sandbox allow-scripts;"},
		"/runs/" + id + "/plot.svg":        {"image/svg+xml", "sandbox allow-scripts;"},
		"/runs/" + id + "/gone.svg":        {"text/html; charset=utf-8", "default-src 'none'; style-src 'self';"},
		"/runs/" + id + "/details?q=%3Cs>": {"text/html; charset=utf-8", "default-src 'none'; style-src 'self';"},
	} {
		h := s.ask(http.MethodGet, target).Header
		if got := h.Get("Content-Type"); got != want.kind {
			t.Errorf("%s: Content-Type is %q, want %q", target, got, want.kind)
		}
		policy := h.Get("Content-Security-Policy")
		contains(t, policy, want.policy, frames)
		lacks(t, policy, "allow-same-origin", "*", "http")
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", target, name, got, value)
			}
		}
	}
}

func TestFilesInParts(t *testing.T) {
	s := open(t)
	id := s.keep(sample{})
	s.write(id+"/logs/n1.log", "0123456789")
	target := "/runs/" + id + "/logs/n1.log"
	if got := s.get(http.StatusPartialContent, target, "Range", "bytes=2-4"); got != "234" {
		t.Errorf("bytes 2 to 4 are %q", got)
	}
	s.get(http.StatusRequestedRangeNotSatisfiable, target, "Range", "bytes=20-")
	res := s.ask(http.MethodGet, target)
	if got := res.Header.Get("Content-Disposition"); got != "" {
		t.Errorf("Content-Disposition is %q, want none", got)
	}
	s.get(http.StatusNotModified, target, "If-None-Match", res.Header.Get("Etag"))
	if got := s.ask(http.MethodGet, target+"?download").Header.Get("Content-Disposition"); got != "attachment; filename=n1.log" {
		t.Errorf("Content-Disposition is %q", got)
	}
}

// TestHostileStrings puts HTML, control characters and marks of writing direction into every
// field of every file.
func TestHostileStrings(t *testing.T) {
	const bad = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e{{.}}"
	s := open(t)
	meta := histories.Meta{
		Scenario: bad, Pitfall: bad, Title: bad, Workload: bad, Lock: bad, Guard: bad, Backend: bad, Topology: bad, Version: bad, Command: bad, Notes: []string{bad},
		Usage: []histories.Usage{{Process: bad}}, Started: epoch,
	}
	id := func(value string) string {
		return s.keep(sample{meta: meta, verdict: checker.Fail, events: []histories.Event{
			{Index: 0, F: histories.F(bad), Key: bad, Value: bad, Node: bad, Err: bad}, {Index: 1, F: "x", Value: value},
		}})
	}
	a, b := id("a"), id("b")
	s.write("evil/one/run.json", `{"schema":1,"phase":"<script>alert(1)</script>","scenario":"x"}`)
	s.write("evil/two/run.json", `<script>alert(1)</script>`)
	s.write("evil/three/run.json", `{"schema":1,"started":"<script>alert(1)</script>"}`)
	s.write(a+"/results.json", `{"schema":1,"verdict":"fail","outcome":"expected","vacuous":["<script>alert(1)"],"harness_errors":["<script>alert(1)"],
		"survivors":["<script>alert(1)"],"why":"<script>alert(1)","note":"<script>alert(1)","expected":[{"property":"<script>alert(1)"}],
		"results":[{"property":"<script>alert(1)","verdict":"fail","story":"<script>alert(1)","engine":"<script>alert(1)"}]}`)
	asked := "%22%27%3E%3Cscript%3Ealert(1)%3C/script%3E"
	for _, target := range []string{
		"/", "/matrix", "/?q=" + asked, "/?lock=" + asked, "/matrix?lock=" + asked, "/" + asked, "/runs/" + a + "/details", "/runs/" + b + "/details",
		"/compare?run=" + a + "&run=" + b, "/compare?run=" + b + "&run=evil/one", "/runs/evil/two/details", "/runs/" + a + "/" + asked, "/runs/" + asked + "/x/",
		"/?verdict=" + asked, "/?outcome=" + asked, "/?page=" + asked, "/?format=" + asked, "/?with=" + asked, "/?with=" + a, "/?q=" + asked + "&format=json",
		"/?format=json", "/matrix?format=json", "/compare?format=json&run=" + a + "&run=" + b, "/runs/" + a + "/details?format=json", "/runs/evil/two/report.html",
	} {
		res := s.ask(http.MethodGet, target)
		data, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		body := string(data)
		if res.StatusCode >= 500 {
			t.Errorf("GET %s: %s\n%s", target, res.Status, body)
		}
		for _, unwanted := range []string{"<script", "<img", "\x1b", "ZgotmplZ"} {
			if strings.Contains(body, unwanted) {
				t.Errorf("GET %s: %q is in\n%s", target, unwanted, body)
			}
		}
		if strings.Contains(body, "\u202e") && res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("GET %s: a mark of writing direction is in\n%s", target, body)
		}
	}
	contains(t, s.get(http.StatusOK, "/"), "&lt;script&gt;alert(1)&lt;/script&gt;", `\u202e`)
}
