package histories

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lockbench/lockbench/internal/packed"
)

// TestUnsound checks that what is wrong in a file is told from a file that cannot be read.
func TestUnsound(t *testing.T) {
	for _, format := range formats() {
		_, err := (&Decoder{Name: "h", Format: format}).all(iotest.ErrReader(io.ErrClosedPipe))
		if err == nil || Unsound(err) || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s that cannot be read: %v", format, err)
		}
		if format == JepsenLog { // whatever is in it
			continue
		}
		_, err = (&Decoder{Name: "h", Format: format}).all(strings.NewReader("what?"))
		if !Unsound(err) {
			t.Errorf("%s that is none: %v", format, err)
		}
		for _, damage := range []error{&packed.DamageError{Kind: "gzip"}, packed.ErrUTF16} {
			if _, err := (&Decoder{Name: "h", Format: format}).all(iotest.ErrReader(damage)); !Unsound(err) {
				t.Errorf("%s that is damaged: %v", format, err)
			}
		}
	}
	dir := t.TempDir()
	if _, err := ReadFile(dir, false); Unsound(err) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, RunFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(dir, false); !Unsound(err) {
		t.Errorf("a damaged run: %v", err)
	}
	for _, err := range []error{nil, errors.New("other")} {
		if Unsound(err) {
			t.Errorf("%v is unsound", err)
		}
	}
}

func TestBreach(t *testing.T) {
	const first = `{"index":0,"time":5,"process":0,"worker":0,"type":"invoke","f":"acquire","key":"k","attempt":1}` + "\n"
	path := filepath.Join(t.TempDir(), "h")
	for _, test := range []struct{ text, want string }{
		{first, ""},
		{"\n" + first + "\n\n" + `{"index":1,"time":4,"process":0,"worker":1,"type":"ok","f":"acquire","key":"k","attempt":1}`,
			path + ":5: event 1: time is 4 ns, before the 5 ns of the event before it; 1 event before it is sound"},
		{"{:index 0, :time 0, :type :invoke, :process 0, :f :release, :lockbench/key \"k\"}",
			path + ":1: event 0: release has no attempt, want that of the acquire it belongs to; 0 events before it are sound"},
		{"no history", ""},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := File{Path: path}.Breach(false)
		if test.want == "" {
			if err != nil {
				t.Errorf("%q: %v", test.text, err)
			}
			continue
		}
		wantErr(t, err, test.want)
		if _, invalid := errors.AsType[*InvalidError](err); !invalid {
			t.Errorf("%q: %v is no *InvalidError", test.text, err)
		}
	}
	if err := (File{Path: Stdin}).Breach(false); err != nil {
		t.Error(err)
	}
}
