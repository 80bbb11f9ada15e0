package histories

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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

// symbolic reports whether a symbol may begin with c.
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
