package histories

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// formKind is the kind of an EDN value.
type formKind uint8

const (
	formNil formKind = iota
	formBool
	formInt    // without the N of Clojure's big integers
	formNumber // any other number, as it is written
	formString
	formChar
	formSymbol
	formKeyword
	formList
	formVector
	formMap
	formSet
	formTagged
)

// String names the kind as a sentence does.
func (k formKind) String() string {
	return [...]string{
		"nil", "a boolean", "an integer", "a number", "a string", "a character", "a symbol", "a keyword",
		"a list", "a vector", "a map", "a set", "a tagged value",
	}[k]
}

// A form is one EDN value (https://github.com/edn-format/edn).
type form struct {
	kind formKind
	// text is what an atom says: a string's contents, a keyword without its colon, a
	// character without its backslash. Of a tagged form it is the tag.
	text  string
	items []form // of a collection; keys and values of a map in turn; the value that is tagged
}

// deepest bounds how deep forms may be nested, so that no file can exhaust the stack.
const deepest = 200

// A formReader reads EDN forms. After an error other than that of its input it can go on.
type formReader struct {
	in   *bufio.Reader
	line int // of the byte that is read next
	size int // of the form that is being read, in bytes
	buf  []byte
	// names holds keywords and symbols that were read before, to share their text.
	names map[string]string
	open  []byte // the closing brackets that are due
}

func newFormReader(r io.Reader) *formReader {
	return &formReader{in: bufio.NewReaderSize(r, 64<<10), line: 1, names: make(map[string]string)}
}

var (
	errUnfinished = errors.New("the EDN ends inside of a value")
	errTooBig     = fmt.Errorf("the value is longer than %d MiB, want one operation", maxLine>>20)
)

// A closer is a closing bracket that was found where a form could stand.
type closer byte

func (c closer) Error() string { return fmt.Sprintf("found %q, which closes nothing", byte(c)) }

// read returns the next byte, or errUnfinished at the end.
func (r *formReader) read() (byte, error) {
	c, err := r.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return 0, errUnfinished
	case err != nil:
		return 0, &inputError{err}
	}
	if c == '\n' {
		r.line++
	}
	if r.size++; r.size > maxLine {
		return 0, errTooBig
	}
	return c, nil
}

// unread takes the byte back that was just read.
func (r *formReader) unread(c byte) {
	_ = r.in.UnreadByte() // it fails only if nothing was read
	r.size--
	if c == '\n' {
		r.line--
	}
}

// skipLine goes on behind the next newline.
func (r *formReader) skipLine() error {
	r.open = r.open[:0]
	for {
		r.size = 0
		c, err := r.read()
		if err != nil || c == '\n' {
			return err
		}
	}
}

// start skips what is no form: space, commas, comments. It returns the first byte of the
// form, which counts as read.
func (r *formReader) start() (byte, error) {
	for {
		c, err := r.read()
		switch {
		case err != nil:
			return 0, err
		case blank(c):
			if len(r.open) == 0 {
				r.size = 0
			}
		case c == ';':
			for c != '\n' {
				if c, err = r.read(); err != nil {
					return 0, err
				}
				if len(r.open) == 0 {
					r.size = 0
				}
			}
		default:
			return c, nil
		}
	}
}

func blank(c byte) bool { return c <= ' ' || c == ',' }

// next returns the next form at the top, or errUnfinished before the first byte of one
// as io.EOF. A bracket that closes nothing is a closer.
func (r *formReader) next() (form, error) {
	for {
		r.size, r.open = 0, r.open[:0]
		c, err := r.start()
		if errors.Is(err, errUnfinished) {
			return form{}, io.EOF
		}
		if err != nil {
			return form{}, err
		}
		f, ok, err := r.form(c)
		if err != nil || ok {
			return f, err
		}
	}
}

// value returns the next form inside of another.
func (r *formReader) value() (form, error) {
	for {
		c, err := r.start()
		if err != nil {
			return form{}, err
		}
		f, ok, err := r.form(c)
		if err != nil || ok {
			return f, err
		}
	}
}

// form reads the form that begins with c. It reports false for one that is discarded.
func (r *formReader) form(c byte) (form, bool, error) {
	var f form
	var err error
	switch c {
	case '(':
		f, err = r.collection(formList, ')')
	case '[':
		f, err = r.collection(formVector, ']')
	case '{':
		f, err = r.collection(formMap, '}')
	case ')', ']', '}':
		err = closer(c)
	case '"':
		f.kind = formString
		f.text, err = r.string()
	case '\\':
		f, err = r.char()
	case '#':
		return r.dispatch()
	default:
		f, err = r.atom(c)
	}
	return f, true, err
}

// deeper enters a form that holds others, up to the byte closing; 0 if there is none.
func (r *formReader) deeper(closing byte) error {
	if len(r.open) == deepest {
		return fmt.Errorf("values are nested more than %d deep", deepest)
	}
	r.open = append(r.open, closing)
	return nil
}

func (r *formReader) leave() { r.open = r.open[:len(r.open)-1] }

func (r *formReader) collection(kind formKind, closing byte) (form, error) {
	f := form{kind: kind}
	if err := r.deeper(closing); err != nil {
		return f, err
	}
	for {
		item, err := r.value()
		var found closer
		switch {
		case errors.As(err, &found) && byte(found) == closing:
			r.leave()
			if kind == formMap && len(f.items)%2 != 0 {
				return f, errors.New("the map has a key without a value")
			}
			return f, nil
		case errors.As(err, &found):
			return f, fmt.Errorf("found %q, want %q", byte(found), closing)
		case err != nil:
			return f, err
		}
		f.items = append(f.items, item)
	}
}

// dispatch reads what begins with #.
func (r *formReader) dispatch() (form, bool, error) {
	c, err := r.read()
	if err != nil {
		return form{}, false, err
	}
	switch {
	case c == '{':
		f, err := r.collection(formSet, '}')
		return f, true, err
	case c == '_':
		err := r.inner(func() error { _, err := r.value(); return err })
		return form{}, false, err
	case c == '#': // ##Inf, ##NaN
		name, err := r.token(0)
		if err == nil && name != "Inf" && name != "-Inf" && name != "NaN" {
			err = fmt.Errorf("%q is no number, want ##Inf, ##-Inf or ##NaN", abbreviate([]byte("##"+name)))
		}
		return form{kind: formNumber, text: "##" + name}, true, err
	case delimiter(c):
		r.unread(c)
		return form{}, false, errors.New(`found "#" alone, want a tag or a set`)
	}
	tag, err := r.token(c)
	if err != nil {
		return form{}, false, err
	}
	f := form{kind: formTagged, text: tag}
	err = r.inner(func() error {
		v, err := r.value()
		f.items = []form{v}
		return err
	})
	if err != nil {
		return f, false, err
	}
	if space, ok := strings.CutPrefix(tag, ":"); ok { // #:ns{:a 1} is {:ns/a 1}
		f, err = f.items[0].inNamespace(space)
	}
	return f, true, err
}

// inner reads a value that belongs to what is before it.
func (r *formReader) inner(read func() error) error {
	if err := r.deeper(0); err != nil {
		return err
	}
	if err := read(); err != nil {
		var found closer
		if errors.As(err, &found) {
			return fmt.Errorf("found %q, want a value", byte(found))
		}
		return err
	}
	r.leave()
	return nil
}

// inNamespace puts the keys of a map into a namespace.
func (f form) inNamespace(space string) (form, error) {
	if f.kind != formMap || space == "" {
		return f, fmt.Errorf("found %v in a namespace, want a map", f.kind)
	}
	for i := 0; i < len(f.items); i += 2 {
		if k := &f.items[i]; k.kind == formKeyword && !strings.Contains(k.text, "/") {
			k.text = space + "/" + k.text
		}
	}
	return f, nil
}

func delimiter(c byte) bool {
	return blank(c) || strings.IndexByte(`()[]{}";\`, c) >= 0
}
