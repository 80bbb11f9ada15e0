package histories

import (
	"io"
	"os"
)

// watched is f, with watch told of what is read.
func watched(f *os.File, watch func(read, size int64)) io.Reader {
	if watch == nil {
		return f
	}
	w := &watchedFile{f: f, watch: watch}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		w.size = info.Size()
	}
	return w
}

type watchedFile struct {
	f          *os.File
	read, size int64
	watch      func(read, size int64)
}

func (w *watchedFile) Read(p []byte) (int, error) {
	n, err := w.f.Read(p)
	w.read += int64(n)
	w.watch(w.read, w.size)
	return n, err
}
