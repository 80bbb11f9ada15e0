package histories

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// token reads up to the next delimiter. first is its first byte, unless it is 0.
func (r *formReader) token(first byte) (string, error) {
	r.buf = r.buf[:0]
	if first != 0 {
		r.buf = append(r.buf, first)
	}
	for {
		c, err := r.read()
		if err != nil && !errors.Is(err, errUnfinished) {
			return "", err
		}
		if err != nil || delimiter(c) {
			if err == nil {
				r.unread(c)
			}
			return r.named(), nil
		}
		r.buf = append(r.buf, c)
	}
}

// named returns the token that was read, the same string for the same name. It remembers
// short names only, no numbers, and not too many.
func (r *formReader) named() string {
	const most, longest = 1 << 12, 64
	if s, ok := r.names[string(r.buf)]; ok {
		return s
	}
	s := validString(string(r.buf))
	if len(s) > 0 && len(s) <= longest && !digit(s[0]) && len(r.names) < most {
		r.names[s] = s
	}
	return s
}

// atom reads a keyword, a symbol or a number.
func (r *formReader) atom(first byte) (form, error) {
	text, err := r.token(first)
	if err != nil {
		return form{}, err
	}
	switch second := byteAt(text, 1); {
	case text == "nil":
		return form{kind: formNil}, nil
	case text == "true" || text == "false":
		return form{kind: formBool, text: text}, nil
	case first == ':':
		if name := text[1:]; name != "" && name[0] != ':' {
			return form{kind: formKeyword, text: name}, nil
		}
		return form{}, fmt.Errorf("%q is no keyword", text)
	case digit(first), (first == '-' || first == '+') && digit(second):
		return number(text)
	case symbolic(first):
		return form{kind: formSymbol, text: text}, nil
	}
	return form{}, fmt.Errorf("%q is no EDN", abbreviate([]byte(text)))
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// symbolic says whether a symbol may begin with c.
func symbolic(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf || strings.IndexByte(".*+!-_?$%&=<>/|", c) >= 0
}

// number sorts numbers: integers, and others, of which only the look is checked. Clojure
// prints some that are not EDN: ratios, and addresses as 0x1f.
func number(text string) (form, error) {
	bare := strings.TrimPrefix(strings.TrimSuffix(text, "N"), "+")
	digits := strings.TrimPrefix(bare, "-")
	if strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0') {
		return form{kind: formInt, text: bare}, nil
	}
	whole := strings.TrimSuffix(text, "M")
	if _, err := strconv.ParseFloat(whole, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return form{kind: formNumber, text: text}, nil
	}
	if a, b, ok := strings.Cut(strings.TrimLeft(text, "+-"), "/"); ok && strings.Trim(a+b, "0123456789") == "" && a != "" && b != "" {
		return form{kind: formNumber, text: text}, nil
	}
	if h, ok := strings.CutPrefix(text, "0x"); ok && strings.Trim(h, "0123456789abcdefABCDEF") == "" && h != "" {
		return form{kind: formNumber, text: text}, nil
	}
	return form{}, fmt.Errorf("%q is no number", abbreviate([]byte(text)))
}

func (r *formReader) char() (form, error) {
	c, err := r.read()
	if err != nil {
		return form{}, err
	}
	if c <= ' ' {
		r.unread(c)
		return form{}, errors.New(`found "\" alone, want a character behind it`)
	}
	if delimiter(c) {
		return form{kind: formChar, text: string(rune(c))}, nil
	}
	text, err := r.token(c)
	return form{kind: formChar, text: text}, err
}

// string reads a string behind its first quote.
func (r *formReader) string() (string, error) {
	r.buf = r.buf[:0]
	for {
		c, err := r.read()
		switch {
		case err != nil:
			return "", err
		case c == '"':
			return validString(string(r.buf)), nil
		case c != '\\':
			r.buf = append(r.buf, c)
		default:
			if err := r.escape(); err != nil {
				return "", err
			}
		}
	}
}

// escape reads what follows a backslash in a string.
func (r *formReader) escape() error {
	c, err := r.read()
	if err != nil {
		return err
	}
	if i := strings.IndexByte(`tbnrf"\`, c); i >= 0 {
		r.buf = append(r.buf, "\t\b\n\r\f\"\\"[i])
		return nil
	}
	if c != 'u' {
		return fmt.Errorf(`"\%s" is no escape of a string`, strings.ToValidUTF8(string([]byte{c}), "\ufffd"))
	}
	unit, err := r.unit()
	if err != nil || !utf16.IsSurrogate(unit) {
		r.buf = utf8.AppendRune(r.buf, unit)
		return err
	}
	// Java writes what is beyond 16 bits in two halves.
	next, err := r.in.Peek(2)
	if err != nil || string(next) != `\u` {
		r.buf = utf8.AppendRune(r.buf, utf8.RuneError)
		return nil
	}
	for range next {
		if _, err := r.read(); err != nil {
			return err
		}
	}
	low, err := r.unit()
	r.buf = utf8.AppendRune(r.buf, utf16.DecodeRune(unit, low))
	return err
}

// unit reads the four digits of a \u escape.
func (r *formReader) unit() (rune, error) {
	var digits [4]byte
	for i := range digits {
		c, err := r.read()
		if err != nil {
			return 0, err
		}
		digits[i] = c
	}
	v, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, fmt.Errorf(`%q is no escape of a string, want \u and four digits`, `\u`+string(digits[:]))
	}
	return rune(v), nil
}

// appendForm writes f in one line, the same way for the same value.
func appendForm(b []byte, f form) []byte {
	switch f.kind {
	case formNil:
		return append(b, "nil"...)
	case formString:
		return appendEDNString(b, f.text)
	case formChar:
		return append(append(b, '\\'), f.text...)
	case formKeyword:
		return append(append(b, ':'), f.text...)
	case formList:
		return append(appendForms(append(b, '('), f.items, " "), ')')
	case formVector:
		return append(appendForms(append(b, '['), f.items, " "), ']')
	case formSet:
		return append(appendForms(append(b, "#{"...), f.items, " "), '}')
	case formMap:
		return append(appendForms(append(b, '{'), f.items, ", "), '}')
	case formTagged:
		b = append(append(b, '#'), f.text...)
		return appendForm(append(b, ' '), f.items[0])
	}
	return append(b, f.text...)
}

// appendForms puts pairs, such as those of a map, apart by pair; all others by a space.
func appendForms(b []byte, items []form, pair string) []byte {
	for i, item := range items {
		switch {
		case i == 0:
		case i%2 == 0:
			b = append(b, pair...)
		default:
			b = append(b, ' ')
		}
		b = appendForm(b, item)
	}
	return b
}

// appendEDNString quotes s in one line.
func appendEDNString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, c := range s { // an invalid byte becomes U+FFFD
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}
