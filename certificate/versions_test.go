package certificate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/certificate"
)

// TestVersions: resource safety is proven to hold where every access finds what its attempt knows.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name   string
		calls  string // attempt, operation, version, token
		proven bool
	}{
		{"its own writes", "1 read 0 0, 1 write 0 0, 1 read 1 0, 1 write 1 0", true},
		{"of what it never read", "1 write 7 0, 1 write 9 0", true},
		{"a lost update", "1 read 0 0, 2 read 0 0, 2 write 0 0, 1 write 1 0", false},
		{"an unstable read", "1 read 0 0, 2 read 0 0, 2 write 0 0, 1 read 1 0", false},
		{"tokens that rise", "1 write 0 1, 2 write 1 2", true},
		{"a token that goes down", "1 write 0 2, 2 write 1 1", false},
		{"shown by a read", "1 read 0 2, 2 write 0 1", false},
		{"seen late", "2 write 0 1, 1 read 0 2", false},
		{"no token", "1 write 0 2, 2 write 1 0", true},
	} {
		var history bytes.Buffer
		n := 0
		line := func(process int, typ, f, rest string) {
			fmt.Fprintf(&history, `{"index":%d,"time":%d,"process":%d,"worker":%[3]d,"type":"%s","f":"%s","key":"k","attempt":%d%s}`+"\n", n, n, process, typ, f, process, rest)
			n++
		}
		for call := range strings.SplitSeq(c.calls, ", ") {
			var process int
			var version, token int64
			var f string
			if _, err := fmt.Sscan(call, &process, &f, &version, &token); err != nil {
				t.Fatal(err)
			}
			rest := fmt.Sprintf(`,"token":%d`, token)
			line(process, "invoke", f, rest)
			line(process, "ok", f, fmt.Sprintf(`%s,"version":%d`, rest, version))
		}
		_, errs, err := certificate.Prove(&history, certificate.Certificate{Proven: []certificate.Verdict{
			{Rule: "resource-safety", Verdict: certificate.Pass, Proof: certificate.ByVersions},
		}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if (errs[0] == nil) != c.proven {
			t.Errorf("%s: %v, want it proven: %v", c.name, errs[0], c.proven)
		}
	}
}
