package histories

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/packed"
)

// Format is the form of a file that holds a history.
type Format string

// The formats.
const (
	JSONL     Format = "jsonl"      // an Event per line, as lockbench writes it
	EDN       Format = "edn"        // Jepsen's history.edn
	JepsenLog Format = "jepsen-log" // what Jepsen logs while a test runs; it can only be read
	CSV       Format = "csv"        // calls of an application, one per row; it can only be read
	Calls     Format = "calls"      // the same as JSON objects; it can only be read
)

// formats are those that a history can be read from.
func formats() []Format { return []Format{JSONL, EDN, JepsenLog, CSV, Calls} }

// formatOf tells the format of a file by the ending of its name, before one that says how it
// is compressed, and if that says nothing by how its text begins.
func formatOf(name string, head []byte) Format {
	switch strings.ToLower(filepath.Ext(packed.Name(name))) {
	case ".jsonl", ".json", ".ndjson":
		if beginsCalls(head) {
			return Calls
		}
		return JSONL
	case ".csv":
		return CSV
	case ".edn", ".clj":
		return EDN
	case ".log":
		return JepsenLog
	}
	head = bytes.TrimSpace(head)
	if beginsCalls(head) {
		return Calls
	}
	inner, braced := bytes.CutPrefix(head, []byte{'{'})
	inner = bytes.TrimSpace(inner)
	switch {
	case bytes.Contains(head, []byte("jepsen.util")):
		return JepsenLog
	case braced && bytes.HasPrefix(inner, []byte{'"'}):
		return objectOrMap(inner[1:])
	case braced && bytes.HasPrefix(inner, []byte{':'}), len(head) > 0 && strings.IndexByte("[(#;", head[0]) >= 0:
		return EDN
	}
	return JSONL
}

// beginsCalls reports whether JSON begins as that of calls does: by an array, or an object that says who.
func beginsCalls(head []byte) bool {
	head = bytes.TrimSpace(head)
	if inner, array := bytes.CutPrefix(head, []byte{'['}); array {
		return bytes.HasPrefix(bytes.TrimSpace(inner), []byte(`{"`))
	}
	object, _, _ := bytes.Cut(head, []byte{'}'})
	return bytes.HasPrefix(head, []byte{'{'}) && bytes.Contains(object, []byte(`"who"`)) && bytes.Contains(object, []byte(`"what"`))
}

// objectOrMap tells JSON's {"type":"ok"} from EDN's {"type" :ok} and {"type" "ok"} by what is
// behind the first quote.
func objectOrMap(head []byte) Format {
	_, rest, ok := bytes.Cut(head, []byte{'"'})
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if !ok || len(rest) > 1 && rest[0] == ':' && !bytes.ContainsAny(rest[1:2], "abcdeghijklmopqrsuvwxyz") {
		return JSONL
	}
	return EDN
}

// A Decoder reads a history.
//
// What it reads of EDN and logs that lockbench did not write: an operation without :index
// or :time gets the number of those before it and the time of the last. Its worker is its
// process. A process that is no number is the nemesis; of its operations, all of which are
// :info in Jepsen, every other one of the same :f ends a fault. Value is empty for nil, the
// text of a string, and of any other value its EDN. Keys that Jepsen does not define are
// left alone, but one in the namespace lockbench that is not known is an error.
//
// In JSONL a field that Event does not have is an error: evidence that is skipped in silence could turn a fail
// into a pass. Blank lines are skipped.
//
// Calls of an application, as CSV or JSON, are read whole and put into order of time; what is
// not sound in them is a *CallError. What is skipped of them may have been at any time.
type Decoder struct {
	Name   string // of the file, for errors
	Format Format
	// Skip is told of what is not sound, which is then left out. If it is nil, that is an error,
	// and so is more of it than belongs to any history.
	Skip func(*LineError)
	// At is told of the line of each event before it is handed on, other than of those that come
	// of calls. It may be nil.
	At func(line int)
}

// Decode calls each with every event of a history, in order, and stops at its first error,
// which it returns as it is. Other errors say which line was not understood, what was
// expected there, and how many events before it are sound. Only what is being read is held
// in memory.
func (d *Decoder) Decode(r io.Reader, each func(Event) error) error {
	lines := &lineDecoder{name: d.Name, unit: "event", skip: d.Skip, at: d.At}
	switch d.Format {
	case JSONL, "":
		return decodeLines(r, lines, eventParser, each)
	case EDN:
		return decodeEDN(r, each, lines)
	case JepsenLog:
		return decodeJepsenLog(r, each, lines)
	case CSV:
		return decodeCSV(r, lines, each)
	case Calls:
		return decodeCalls(r, lines, each)
	}
	return fmt.Errorf("format is %q, want one of %v", d.Format, formats())
}

func (d *Decoder) all(r io.Reader) ([]Event, error) {
	var events []Event
	err := d.Decode(r, func(e Event) error {
		events = append(events, e)
		return nil
	})
	return events, err
}

// An Encoder writes a history, as JSONL or EDN. Close it.
type Encoder struct {
	out    *bufio.Writer
	append func([]byte, *Event) []byte
	line   []byte
}

// NewEncoder returns an Encoder that writes to w. A history cannot be written as JepsenLog.
func NewEncoder(w io.Writer, format Format) (*Encoder, error) {
	e := &Encoder{out: bufio.NewWriterSize(w, 64<<10)}
	switch format {
	case JSONL:
		e.append = appendEvent
	case EDN:
		e.append = appendEDN
	default:
		return nil, fmt.Errorf("format is %q, want %s or %s", format, JSONL, EDN)
	}
	return e, nil
}

// Encode writes one event.
func (e *Encoder) Encode(event *Event) error {
	if event.Type > Fail {
		return fmt.Errorf("event %d: %w", event.Index, badType(event.Type.String()))
	}
	e.line = append(e.append(e.line[:0], event), '\n')
	_, err := e.out.Write(e.line)
	return err
}

// Close writes what is left. It does not close the writer below.
func (e *Encoder) Close() error { return e.out.Flush() }

func writeAll(w io.Writer, format Format, events []Event) error {
	out, err := NewEncoder(w, format)
	if err != nil {
		return err
	}
	for i := range events {
		if err := out.Encode(&events[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

// A File is a history that was read from disk.
type File struct {
	Path    string // of the history itself
	Format  Format
	Meta    *Meta // of a run directory, else nil
	Events  []Event
	Skipped []*LineError
}

// Stdin is the path of standard input, which can be read but once.
const Stdin = "-"

// ReadFile reads a history from a file of any format, which may be compressed by gzip or zstd,
// from a run directory, or from Stdin. Its events are returned up to an error. A lenient one leaves out what is not sound and says so in
// Skipped.
func ReadFile(path string, lenient bool) (File, error) {
	var events []Event
	file, err := EachEvent(path, lenient, nil, func(guess int, e Event) error {
		if events == nil {
			events = make([]Event, 0, guess)
		}
		events = append(events, e)
		return nil
	})
	file.Events = events
	return file, err
}

// EachEvent is ReadFile without keeping the events: it calls each with every event, as
// Decode does, and with a guess of how many there are. Where lines are left out, the events
// behind them are numbered anew.
//
// It calls watch after each piece of the file that was read, with the bytes until there and the
// size of the file, which is 0 for what has none, such as a pipe. A nil watch is not called.
func EachEvent(path string, lenient bool, watch func(read, size int64), each func(guess int, e Event) error) (File, error) {
	return watchEvents(path, lenient, source{watch: watch}, each)
}

// A source is told how a file is read. What is nil is not called.
type source struct {
	watch func(read, size int64)
	at    func(line int)
}

func watchEvents(path string, lenient bool, told source, each func(guess int, e Event) error) (File, error) {
	file := File{Path: path}
	f, err := file.open()
	if err != nil {
		return file, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost

	text := packed.NewReader(watched(f, told.watch))
	defer func() { _ = text.Close() }() // it returns none
	in := bufio.NewReaderSize(text, 64<<10)
	head, err := in.Peek(4 << 10)
	again := damaged(err) || errors.Is(err, packed.ErrUTF16) // it comes again, with its line
	if err != nil && !again && !errors.Is(err, io.EOF) {
		return file, fmt.Errorf("cannot read the history: %w", err)
	}
	file.Format = formatOf(file.Path, head)
	d := Decoder{Name: file.Path, Format: file.Format, At: told.at}
	if lenient {
		d.Skip = func(e *LineError) { file.Skipped = append(file.Skipped, e) }
	}
	guess, n := guessEvents(f, head), 0
	err = d.Decode(in, func(e Event) error {
		if len(file.Skipped) > 0 {
			e.Index = n
		}
		n++
		return each(guess, e)
	})
	return file, err
}

// MetaOf returns what a run directory says of its run, and nil for any other path.
func MetaOf(path string) (*Meta, error) {
	if info, err := os.Stat(path); path == Stdin || err != nil || !info.IsDir() {
		return nil, nil //nolint:nilnil // a history of which nothing is said is none that cannot be read
	}
	meta, err := loadMeta(filepath.Join(path, RunFile))
	return &meta, err
}

// open opens the history, and reads what is beside it in a run directory.
func (file *File) open() (*os.File, error) {
	if file.Path == Stdin {
		file.Path = "stdin"
		return os.Stdin, nil
	}
	info, err := os.Stat(file.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history: %w", err)
	}
	if info.IsDir() {
		meta, err := loadMeta(filepath.Join(file.Path, RunFile))
		if err != nil {
			return nil, err
		}
		file.Meta, file.Path = &meta, filepath.Join(file.Path, EventsFile)
	}
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history: %w", err)
	}
	return f, nil
}

// guessEvents guesses how many events a file has from the lines that it begins with, so that
// the events of a large one are not copied again and again.
func guessEvents(f *os.File, head []byte) int {
	const most = 1 << 26
	info, err := f.Stat()
	lines := bytes.Count(head, []byte{'\n'})
	if err != nil || info.Mode()&fs.ModeType != 0 || lines == 0 {
		return 0
	}
	perLine := int64(bytes.LastIndexByte(head, '\n')+1) / int64(lines)
	return int(min(info.Size()/max(perLine, 16)+info.Size()/max(perLine, 16)/16+1, most))
}
