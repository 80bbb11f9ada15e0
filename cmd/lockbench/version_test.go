package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	for _, c := range []struct {
		name, linked, module string
		unread               bool
		want                 string
	}{
		{name: "go install MODULE@v1.2.3", module: "v1.2.3", want: "v1.2.3"},
		{name: "a release, by its linker flag", linked: "v1.2.4", module: "v1.2.3", want: "v1.2.4"},
		{name: "a build in a checkout", module: "v0.0.0-20261126072017-ae37bce00000+dirty", want: "v0.0.0-20261126072017-ae37bce00000+dirty"},
		{name: "go run", module: "(devel)", want: "devel"},
		{name: "no module", want: "devel"},
		{name: "no build information", unread: true, want: "devel"},
	} {
		read := func() (*debug.BuildInfo, bool) {
			if c.unread {
				return nil, false
			}
			return &debug.BuildInfo{Main: debug.Module{Version: c.module}}, true
		}
		if got := versionOf(c.linked, read); got != c.want {
			t.Errorf("%s: the version is %q, want %q", c.name, got, c.want)
		}
	}
}
