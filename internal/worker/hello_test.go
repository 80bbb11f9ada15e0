package worker

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/locks"
)

// describe asks a worker that answers hello with that line.
func describe(t *testing.T, hello string) (Description, error) {
	t.Helper()
	me, err := os.Executable()
	must(t, err)
	t.Setenv(behaviourEnv, "hello "+hello)
	return Describe(t.Context(), []string{me}, "", locks.All())
}

func TestDescribe(t *testing.T) {
	d, err := describe(t, `{"id":1,"type":"ok","protocol":2,"worker":" my\tlock 3 ","can":["extend","wait","lost"],"guards":["none","check-token"],
		"keys":["lock:%s","{%s}:n"],"database":3,"promises":{"masters":5,"replicas":1,"tolerance":500,"poll":50,"renews":false,
		"fencing":true,"fair":true,"extend_adds":true,"silent_release":true,"whole_seconds":true,"failover":true,"once":true,"never_shortens":true,"bounded_hold":true},"what nobody knows":1}`)
	must(t, err)
	s := d.Spec
	if want := []string{"lock:a", "{a}:n"}; d.Protocol != 2 || s.Name != "my lock 3" || !slices.Equal(s.Keys("a"), want) || s.Database != 3 {
		t.Errorf("protocol %d, name %q, keys %v, database %d", d.Protocol, s.Name, s.Keys("a"), s.Database)
	}
	want := locks.Promises{Tolerance: 500 * time.Millisecond, Poll: 50 * time.Millisecond, Fair: true, ExtendAdds: true, SilentRelease: true,
		Failover: true, Once: true, NeverShortens: true, BoundedHold: true}
	if diff := cmp.Diff(want, s.Promises); diff != "" {
		t.Error(diff)
	}
	if got := s.Class(); got != (locks.Class{Quorum: true, Fencing: true, Waits: true, Fair: true, Failover: true}) {
		t.Errorf("class %+v", got)
	}
	if !s.Extends || !s.HasToken || !s.WholeSeconds || s.Replicas != 1 || s.New != nil {
		t.Errorf("%+v", s)
	}
}

// TestDescribeLittle wants of a worker that says nothing what any lock keeps.
func TestDescribeLittle(t *testing.T) {
	d, err := describe(t, `{"id":1,"type":"ok","protocol":2}`)
	must(t, err)
	want := locks.Spec{Name: "worker", Title: d.Spec.Title, Sound: true, Masters: 1, Guards: []string{"none"}}
	if diff := cmp.Diff(want, d.Spec); diff != "" {
		t.Error(diff)
	}
	renewing, err := describe(t, `{"id":1,"type":"ok","protocol":2,"can":["lost"],"worker":"redlock"}`)
	must(t, err)
	if !renewing.Spec.Renews || renewing.Spec.Name == "redlock" {
		t.Errorf("%+v", renewing.Spec)
	}
}

func TestDescribeNonsense(t *testing.T) {
	for said, want := range map[string]string{
		`"type":"ok","protocol":3`:                               `answers hello with "ok" and protocol 3, want "ok" and 1 to 2`,
		`"type":"fail","protocol":2`:                             `answers hello with "fail"`,
		`"type":"error","error":"no"`:                            `cannot do what hello asks for: no`,
		`"type":"ok","protocol":2,"keys":["lock"]`:               `"lock" is the name of a key, want %s in it`,
		`"type":"ok","protocol":2,"database":-1`:                 `its database is -1`,
		`"type":"ok","protocol":2,"guards":["hope"]`:             `no guard "hope"`,
		`"type":"ok","protocol":2,"promises":{"masters":4}`:      `a lock on 4 masters, want 1 or 5`,
		`"type":"ok","protocol":2,"promises":{"replicas":3}`:     `3 replicas, want 0 to 2`,
		`"type":"ok","protocol":2,"promises":{"tolerance":-1}`:   `a tolerance of -1 ms`,
		`"type":"ok","protocol":2,"promises":{"default_ttl":-1}`: `a default_ttl of -1 ms`,
		`"type":"ok","protocol":2,"promises":{"poll":1e30}`:      `a poll of 1e+30 ms`,
		`"type":"ok","protocol":2,"promises":{"masters":"many"}`: `it is no JSON object of the protocol`,
	} {
		_, err := describe(t, `{"id":1,`+said+`}`)
		var broken *BrokenError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", said, err, want)
		}
	}
}

// TestOver has a worker with a lock of the catalogue under another name.
func TestOver(t *testing.T) {
	spec, err := libraries.Catalogue().Find("redisson-style")
	must(t, err)
	said := Description{Protocol: 2, Spec: specOf(Answer{Keys: []string{"l:%s"}, Database: 2, Can: []string{CanLost}})}
	got := said.Over(spec)
	if got.Name != spec.Name || !slices.Equal(got.Keys("a"), []string{"l:a"}) || got.Database != 2 || got.Reenters || got.New == nil {
		t.Errorf("%+v", got)
	}
	said.Protocol = 1
	if got := said.Over(spec); !got.Reenters || got.Database != 0 {
		t.Errorf("version 1: %+v", got)
	}
}

// TestHelloOfCatalogue wants of each lock behind a worker the class that it has without.
func TestHelloOfCatalogue(t *testing.T) {
	for _, spec := range libraries.Catalogue() {
		a := Options{Prefix: "p:", HashTag: true, Database: 1}.hello(spec)
		got := specOf(a)
		if err := a.sensible(); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		if diff := cmp.Diff(spec.Promises, got.Promises); got.Class() != spec.Class() || diff != "" || got.Masters != spec.Masters || got.Replicas != spec.Replicas {
			t.Errorf("%s: class %q, want %q; promises %s", spec.Name, got.Class(), spec.Class(), diff)
		}
		keys := []string{"p:{k}"}
		if spec.Keys != nil {
			keys = spec.Keys("p:{k}")
		}
		if !slices.Equal(got.Keys("k"), keys) || got.Database != 1 {
			t.Errorf("%s: keys %v in database %d, want %v in 1", spec.Name, got.Keys("k"), got.Database, keys)
		}
		if a := (Options{Prefix: "p:", Database: 1, Silent: true}).hello(spec); a.Keys != nil || a.Database != 0 {
			t.Errorf("%s: silent, and says %v in %d", spec.Name, a.Keys, a.Database)
		}
	}
}
