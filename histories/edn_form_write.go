package histories

import "unicode/utf8"

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
