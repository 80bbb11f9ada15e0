package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// pack writes a file that is compressed by gzip or zstd, or has a byte order mark. With a number
// it cuts off so many bytes of its end.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "pack gzip|zstd|mark|utf16 file packed [cut]")
	text := []byte(ts.ReadFile(args[1]))
	var b bytes.Buffer
	switch args[0] {
	case "gzip":
		w := gzip.NewWriter(&b)
		// Each line in a block of its own, so that a cut stream has some left.
		for line := range strings.Lines(string(text)) {
			_, err := w.Write([]byte(line))
			ts.Check(err)
			ts.Check(w.Flush())
		}
		ts.Check(w.Close())
	case "zstd":
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		ts.Check(err)
		for line := range strings.Lines(string(text)) {
			_, err := w.Write([]byte(line))
			ts.Check(err)
			ts.Check(w.Flush())
		}
		ts.Check(w.Close())
	case "mark":
		b.WriteString("\ufeff" + string(text))
	case "utf16":
		b.WriteString("\xff\xfe")
		for _, c := range text {
			b.Write([]byte{c, 0})
		}
	default:
		ts.Fatalf("pack cannot %s", args[0])
	}
	packed := b.Bytes()
	if len(args) > 3 {
		cut, err := strconv.Atoi(args[3])
		ts.Check(err)
		packed = packed[:len(packed)-cut]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), packed, 0o644))
}
