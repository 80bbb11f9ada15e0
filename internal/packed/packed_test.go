package packed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }() // it writes nowhere
	return w.EncodeAll([]byte(text), nil)
}

func read(r io.Reader) (string, error) {
	in := NewReader(r)
	defer func() { _ = in.Close() }() // it returns none
	text, err := io.ReadAll(in)
	return string(text), err
}

// long is text that does not shrink to nothing.
func long() string {
	var b strings.Builder
	for x := uint32(1); b.Len() < 300_000; x = x*1664525 + 1013904223 {
		b.WriteByte('a' + byte(x>>24)%26)
	}
	return b.String()
}

func TestReader(t *testing.T) {
	skippable := append([]byte{0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'x', 'y'}, zstandard(t, "text")...)
	for name, test := range map[string]struct {
		packed []byte
		want   string
	}{
		"text": {[]byte("text"), "text"}, "nothing": {nil, ""}, "two bytes": {[]byte("{}"), "{}"}, "mark": {[]byte("\ufefftext"), "text"},
		"a mark alone": {[]byte("\ufeff"), ""}, "gzip": {gzipped(t, "text"), "text"}, "gzip of a mark": {gzipped(t, "\ufefftext"), "text"},
		"two gzips": {append(gzipped(t, "te"), gzipped(t, "xt")...), "text"}, "zstd": {zstandard(t, long()), long()}, "empty zstd": {zstandard(t, ""), ""},
		"two zstds": {append(zstandard(t, "te"), zstandard(t, "xt")...), "text"}, "a frame to skip": {skippable, "text"},
		"long gzip": {gzipped(t, long()), long()}, "empty gzip": {gzipped(t, ""), ""},
	} {
		for how, r := range map[string]io.Reader{
			"whole": bytes.NewReader(test.packed), "byte by byte": iotest.OneByteReader(bytes.NewReader(test.packed)),
			"with its end": iotest.DataErrReader(bytes.NewReader(test.packed)),
		} {
			if got, err := read(r); got != test.want || err != nil {
				t.Errorf("%s, %s: %.40q, %v", name, how, got, err)
			}
		}
	}
}

// TestDamage checks that of a stream that is cut anywhere, or wrong, what can be read is, and
// that the error says so.
func TestDamage(t *testing.T) {
	text := long()
	for kind, packed := range map[string][]byte{"gzip": gzipped(t, text), "zstd": zstandard(t, text)} {
		for _, keep := range []int{4, 9, 30, len(packed) / 2, len(packed) - 1} {
			got, err := read(bytes.NewReader(packed[:keep]))
			var damage *DamageError
			if !errors.As(err, &damage) || damage.Kind != kind || !damage.Cut || !strings.HasPrefix(text, got) {
				t.Errorf("%s cut at %d: %d bytes, %v", kind, keep, len(got), err)
			}
			if keep == len(packed)-1 && len(got) < len(text)/2 {
				t.Errorf("%s: %d bytes of %d were read before its end", kind, len(got), len(text))
			}
		}
		wrong := bytes.Clone(packed)
		wrong[len(wrong)-1] ^= 0xff
		var damage *DamageError
		if _, err := read(bytes.NewReader(wrong)); !errors.As(err, &damage) || damage.Cut {
			t.Errorf("%s with a wrong end: %v", kind, err)
		}
	}
	for _, marked := range []string{"\xff\xfe{\x00", "\xfe\xff\x00{"} {
		if _, err := read(strings.NewReader(marked)); !errors.Is(err, ErrUTF16) {
			t.Errorf("%q: %v", marked, err)
		}
	}
	broken := errors.New("broken")
	if _, err := read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{"a.jsonl.gz": "a.jsonl", "a.edn.ZST": "a.edn", "a.log": "a.log", ".gz": ""} {
		if got := Name(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// FuzzReader checks that whatever is read ends, and that errors are told again.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\ufefftext"))
	f.Add(gzipped(f, "text"))
	f.Add(zstandard(f, "text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		defer func() { _ = r.Close() }() // it returns none
		_, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20))
		if _, again := r.Read(make([]byte, 1)); err != nil && again == nil {
			t.Errorf("%v, and then nothing", err)
		}
	})
}
