// Package packed reads text that may be compressed. It is the one room that knows how.
package packed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// mostWindow bounds the memory that a zstd stream can ask for: what zstd --long writes.
const mostWindow = 128 << 20

// A DamageError says that a compressed stream cannot be read on. What was read before it is sound.
type DamageError struct {
	Kind string // gzip or zstd
	Cut  bool   // it ends too early; otherwise something in it is wrong
	Err  error
}

func (e *DamageError) Error() string {
	if e.Cut {
		return fmt.Sprintf("the %s stream is cut short, want a whole one; its writer was probably killed, or a copy of it stopped", e.Kind)
	}
	return fmt.Sprintf("the %s stream is damaged: %v", e.Kind, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// ErrUTF16 says that text is UTF-16, which is not read.
var ErrUTF16 = errors.New("the text is UTF-16, want UTF-8; convert it, such as by iconv -f UTF-16 -t UTF-8")

// A Reader reads text without its compression, which it knows by how the stream begins, and
// without a byte order mark. Once it has returned an error, it goes on to.
type Reader struct {
	raw   *bufio.Reader
	kind  string
	text  *bufio.Reader // nil before the first Read
	close func()
	err   error
}

// NewReader returns a Reader of r, of which nothing is read yet. Close it.
func NewReader(r io.Reader) *Reader {
	return &Reader{raw: bufio.NewReaderSize(r, 64<<10), close: func() {}}
}

// Read reads text. Of a compressed stream that is cut or damaged it returns what there is, and
// then a *DamageError.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.text == nil {
		if r.err = r.open(); r.err != nil {
			return 0, r.err
		}
	}
	n, err := r.text.Read(p)
	if r.err = r.told(err); n > 0 { // an error is told when nothing is left
		return n, nil
	}
	return n, r.err
}

// Close frees what the Reader has. It does not close the reader below.
func (r *Reader) Close() error {
	r.close()
	r.close, r.err = func() {}, io.ErrClosedPipe
	return nil
}

func (r *Reader) open() error {
	head, err := r.raw.Peek(4) // what is shorter is not compressed
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	text := io.Reader(r.raw)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r.kind = "gzip"
		text, err = gzip.NewReader(r.raw)
	case zstdFrame(head):
		r.kind = "zstd"
		var d *zstd.Decoder
		d, err = zstd.NewReader(r.raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
		if err == nil {
			text, r.close = d, d.Close
		}
	default:
		err = nil
	}
	if err != nil {
		return r.told(err)
	}
	r.text = bufio.NewReaderSize(text, 64<<10)
	return r.mark()
}

// mark skips the mark of UTF-8, and refuses that of UTF-16.
func (r *Reader) mark() error {
	head, err := r.text.Peek(3)
	switch {
	case bytes.Equal(head, []byte{0xef, 0xbb, 0xbf}):
		_, err = r.text.Discard(len(head))
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return ErrUTF16
	case len(head) > 0 || errors.Is(err, io.EOF):
		return nil // an error comes again with the bytes behind it
	}
	return r.told(err)
}

// zstdFrame reports whether a frame of zstd begins so, or one that its readers skip (RFC 8878, 3.1).
func zstdFrame(head []byte) bool {
	return len(head) == 4 && (bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) || head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18}))
}

// told is an error of the stream as Read returns it.
func (r *Reader) told(err error) error {
	var known *DamageError
	switch {
	case err == nil || err == io.EOF || r.kind == "" || errors.As(err, &known): //nolint:errorlint // a wrapped io.EOF is no end
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return &DamageError{Kind: r.kind, Cut: true, Err: io.ErrUnexpectedEOF} // never io.EOF, which would be a sound end
	}
	return &DamageError{Kind: r.kind, Err: err}
}

// Name is the name of a file without the ending that says how it is compressed.
func Name(name string) string {
	switch ext := filepath.Ext(name); strings.ToLower(ext) {
	case ".gz", ".gzip", ".zst", ".zstd":
		return strings.TrimSuffix(name, ext)
	}
	return name
}
