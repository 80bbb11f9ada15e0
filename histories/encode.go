package histories

import (
	"strconv"
	"unicode/utf8"
)

// appendEvent appends e as encoding/json would marshal it, without reflection and
// without allocating: Record calls it under its lock.
func appendEvent(b []byte, e *Event) []byte {
	b = appendInt(b, `{"index":`, int64(e.Index))
	b = appendInt(b, `,"time":`, int64(e.Time))
	b = appendInt(b, `,"process":`, int64(e.Process))
	b = appendInt(b, `,"worker":`, int64(e.Worker))
	b = appendText(b, `,"type":`, e.Type.String())
	b = appendText(b, `,"f":`, string(e.F))
	if e.Key != "" {
		b = appendText(b, `,"key":`, e.Key)
	}
	if e.Attempt != 0 {
		b = append(b, `,"attempt":`...)
		b = strconv.AppendUint(b, e.Attempt, 10)
	}
	if e.Token != 0 {
		b = appendInt(b, `,"token":`, e.Token)
	}
	if e.TTL != 0 {
		b = appendInt(b, `,"ttl":`, int64(e.TTL))
	}
	if e.Deadline != 0 {
		b = appendInt(b, `,"deadline":`, int64(e.Deadline))
	}
	if e.Version != 0 {
		b = appendInt(b, `,"version":`, e.Version)
	}
	if e.Value != "" {
		b = appendText(b, `,"value":`, e.Value)
	}
	if e.Node != "" {
		b = appendText(b, `,"node":`, e.Node)
	}
	if e.Err != "" {
		b = appendText(b, `,"error":`, e.Err)
	}
	return append(b, '}')
}

func appendInt(b []byte, name string, v int64) []byte {
	b = append(b, name...)
	return strconv.AppendInt(b, v, 10)
}

func appendText(b []byte, name, s string) []byte {
	b = append(b, name...)
	return appendString(b, s)
}

const hex = "0123456789abcdef"

// appendString quotes s as encoding/json does by default, HTML characters included,
// so that a history can be pasted into a page.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain(c) {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, s[start:i]...)
			b = append(b, `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(b, s[start:i]...)
			b = append(b, `\u202`...)
			b = append(b, hex[r&0xf])
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// plain reports whether c stands for itself in a JSON string.
func plain(c byte) bool {
	return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// valid returns e with every invalid UTF-8 byte replaced by U+FFFD. JSON can hold
// nothing else, and the history in memory must equal the one in the file.
func valid(e Event) Event {
	e.F = F(validString(string(e.F)))
	e.Key = validString(e.Key)
	e.Value = validString(e.Value)
	e.Node = validString(e.Node)
	e.Err = validString(e.Err)
	return e
}

func validString(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
