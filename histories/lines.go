package histories

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// How many bytes of a file one parser takes at once, at least. Most files are short.
const (
	firstChunk = 8 << 10
	chunkSize  = 128 << 10
)

// maxLine bounds the memory that one line of a foreign file can take.
const maxLine = 16 << 20

// mostSkipped bounds the memory that what is left out of a file takes: what has more lines that
// are not sound is no history.
const mostSkipped = 100_000

var (
	// errNoEvent says that a line holds nothing of the history, and need not.
	errNoEvent = errors.New("no event")

	errLongLine = fmt.Errorf("the line is longer than %d MiB, want one event", maxLine>>20)
	errTooMany  = fmt.Errorf("more than %d lines are not sound, want a history; no more than that are left out", mostSkipped)
)

// A lineParser parses one line, which is valid until it returns.
type lineParser[T any] func(line []byte) (T, error)

// stateless is for a parser that keeps nothing between lines.
func stateless[T any](parse lineParser[T]) func() lineParser[T] {
	return func() lineParser[T] { return parse }
}

// decodeLines parses one value per line and calls each with them, in order, from the calling
// goroutine. Several chunks of the file are parsed at the same time, each by a parser of its
// own, unless the decoder is serial: then one parser sees all lines in order.
//
// A last line without its newline counts if it is whole. Blank lines are skipped.
func decodeLines[T any](r io.Reader, d *lineDecoder, newParser func() lineParser[T], each func(T) error) error {
	chunks := make([]chunk[T], 1)
	if !d.serial {
		chunks = make([]chunk[T], runtime.GOMAXPROCS(0)+1)
	}
	for i := range chunks {
		chunks[i] = chunk[T]{parse: newParser(), parsed: make(chan struct{}, 1)}
	}
	in := lineReader{r: r, size: cmp.Or(d.chunk, firstChunk), most: cmp.Or(d.chunk, chunkSize), longest: cmp.Or(d.longest, maxLine), lenient: d.skip != nil}
	next, oldest := 0, 0
	defer func() { // leave no goroutine behind
		for ; oldest < next; oldest++ {
			<-chunks[oldest%len(chunks)].parsed
		}
	}()
	deliver := func() error {
		c := &chunks[oldest%len(chunks)]
		<-c.parsed
		oldest++
		if c.panicked != nil {
			return fmt.Errorf("%s:%d: lockbench panicked where it read this: %v; please report it with that line", d.name, d.line+c.lines, c.panicked)
		}
		return deliverLines(d, c, each)
	}
	for !in.ended {
		if next-oldest == len(chunks) {
			if err := deliver(); err != nil {
				return err
			}
		}
		c := &chunks[next%len(chunks)]
		next++
		c.text = in.read(c.text)
		c.long = in.long
		go c.decode()
	}
	for oldest < next {
		if err := deliver(); err != nil {
			return err
		}
	}
	if in.err != nil {
		return d.ends(d.line+1, &inputError{in.err})
	}
	return nil
}

// A lineReader cuts a file into chunks of whole lines.
type lineReader struct {
	r       io.Reader
	size    int    // of the next chunk, unless a line is longer
	most    int    // that size becomes
	longest int    // that a line may be
	lenient bool   // what follows a line that is too long is read
	rest    []byte // of a line, read with the last chunk
	long    bool   // what was read last is the beginning of a line that is too long
	ended   bool   // nothing follows
	err     error  // why the file cannot be read on; nil at its end
}

// read returns the next whole lines, and at the end of the file what is left. It uses buf,
// which may be what an earlier call returned. After an error a line cut short is dropped.
func (in *lineReader) read(buf []byte) []byte {
	if cap(buf) < in.size {
		buf = make([]byte, 0, in.size)
	}
	in.size = min(4*in.size, in.most)
	if in.long {
		in.behind(buf)
	}
	buf = append(buf[:0], in.rest...)
	for {
		buf = in.fill(buf)
		whole := bytes.LastIndexByte(buf, '\n') + 1
		switch {
		case in.ended && in.err == nil:
			return buf
		case in.ended || whole > 0:
			in.rest = buf[whole:]
			return buf[:whole]
		case len(buf) > in.longest:
			in.long, in.ended = true, !in.lenient
			return buf[:1] // nobody wants more of it
		}
		buf = append(make([]byte, 0, 2*cap(buf)), buf...) // for the line is longer
	}
}

// fill reads behind buf as far as it has room.
func (in *lineReader) fill(buf []byte) []byte {
	for len(buf) < cap(buf) && !in.ended {
		n, err := in.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			in.ended = true
			if !errors.Is(err, io.EOF) {
				in.err = err
			}
		}
	}
	return buf
}

// behind goes on behind the end of a line that is too long, with the room of buf.
func (in *lineReader) behind(buf []byte) {
	in.long, in.rest = false, nil
	for !in.ended {
		buf = in.fill(buf[:0])
		if _, rest, found := bytes.Cut(buf, []byte{'\n'}); found {
			in.rest = bytes.Clone(rest)
			return
		}
	}
}

// A chunk is some lines of a file and what they hold.
type chunk[T any] struct {
	text   []byte
	parse  lineParser[T]
	long   bool          // text is the beginning of a line that is too long
	parsed chan struct{} // told when the fields below are set

	lines  int
	values []T
	at     []int // the line of each value, from 1
	bad    []badLine

	panicked any // what the parser of the last line panicked with
}

// A badLine is a line that holds no value.
type badLine struct {
	line   int // from 1, in its chunk
	before int // values before it, in its chunk
	err    error
}

func (c *chunk[T]) decode() {
	c.lines, c.values, c.at, c.bad, c.panicked = 0, c.values[:0], c.at[:0], c.bad[:0], nil
	defer func() {
		c.panicked = recover()
		c.parsed <- struct{}{}
	}()
	if c.long {
		c.lines, c.bad = 1, append(c.bad, badLine{1, 0, errLongLine})
		return
	}
	for rest := c.text; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		ended := end > 0
		if !ended {
			end = len(rest)
		}
		line := rest[:end]
		rest = rest[end:]
		c.lines++
		if line[0] != '{' && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := c.parse(line)
		if errors.Is(err, errIncomplete) && !ended {
			err = ErrTruncated
		}
		switch {
		case err == nil:
			c.values, c.at = append(c.values, v), append(c.at, c.lines)
		case !errors.Is(err, errNoEvent):
			c.bad = append(c.bad, badLine{c.lines, len(c.values), err})
		}
	}
}

// lineDecoder knows how far a file was read, and what to do about what is not sound.
type lineDecoder struct {
	name, unit string
	chunk      int  // bytes; 0 means chunkSize
	longest    int  // bytes of a line; 0 means maxLine
	serial     bool // what a line means depends on those before it
	line       int  // the last that was read
	sound      int
	skip       func(*LineError) // nil: nothing is skipped
	skipped    int
	at         func(line int) // told of each value before it is handed on; may be nil
}

// deliverLines hands the values of a chunk on, and tells of its bad lines where they stood.
func deliverLines[T any](d *lineDecoder, c *chunk[T], each func(T) error) error {
	bad := c.bad
	for i := 0; ; i++ {
		for ; len(bad) > 0 && bad[0].before == i; bad = bad[1:] {
			if err := d.bad(d.line+bad[0].line, bad[0].err); err != nil {
				return err
			}
		}
		if i == len(c.values) {
			d.line += c.lines
			return nil
		}
		d.stands(d.line + c.at[i])
		if err := each(c.values[i]); err != nil {
			return err
		}
		d.sound++
	}
}

// bad is what becomes of a line that is not sound: an error, unless such lines are skipped.
func (d *lineDecoder) bad(line int, err error) error {
	if d.skip == nil {
		return d.fail(line, err)
	}
	if d.skipped++; d.skipped > mostSkipped {
		return d.fail(line, errTooMany)
	}
	d.skip(&LineError{d.name, line, d.sound, err, d.unit})
	return nil
}

// stands tells on which line the next value stands.
func (d *lineDecoder) stands(line int) {
	if d.at != nil {
		d.at(line)
	}
}

// ends is what becomes of a file that cannot be read on. If it is compressed, and its stream is
// cut or damaged, what was read is as sound as before a torn line.
func (d *lineDecoder) ends(line int, err error) error {
	if damaged(err) {
		return d.bad(line, err)
	}
	return d.fail(line, err)
}

func (d *lineDecoder) fail(line int, err error) error {
	return &LineError{d.name, line, d.sound, err, d.unit}
}
