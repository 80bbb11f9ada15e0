package wire

import (
	"bufio"
	"errors"
	"fmt"
)

// The half of the protocol that a node speaks, and a link has no need of.

// appendReply appends r as it was on the wire.
func appendReply(dst []byte, r Reply) []byte {
	if r.Attrs != nil {
		dst = appendHeader(dst, '|', len(r.Attrs)/2)
		for _, a := range r.Attrs {
			dst = appendReply(dst, a)
		}
	}
	switch r.Type {
	case '$', '!', '=':
		if r.Null {
			return append(dst, "$-1\r\n"...)
		}
		return appendBulk(dst, r.Type, r.Str)
	case '*', '~', '>', '%':
		if r.Null {
			return append(dst, "*-1\r\n"...)
		}
		n := len(r.Elems)
		if r.Type == '%' {
			n /= 2
		}
		dst = appendHeader(dst, r.Type, n)
		for _, e := range r.Elems {
			dst = appendReply(dst, e)
		}
		return dst
	}
	dst = append(dst, r.Type)
	dst = append(dst, r.Str...)
	return append(dst, "\r\n"...)
}

// readCommand reads one command as a server does and returns its words, the name
// first. It takes arrays of bulk strings and inline commands and skips blank
// ones. Errors are those of ReadReply.
func readCommand(r *bufio.Reader) ([]string, error) {
	for {
		first, err := r.Peek(1)
		if err != nil {
			return nil, err
		}
		var words []string
		if first[0] == '*' {
			words, err = readArray(r)
		} else {
			words, err = readInline(r)
		}
		if err != nil || len(words) > 0 {
			return words, err
		}
	}
}

func readArray(r *bufio.Reader) ([]string, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	n, err := parseLength(line)
	if err != nil {
		return nil, err
	}
	var words []string
	for range max(n, 0) {
		line, err := readLine(r)
		if err != nil {
			return nil, unexpected(err)
		}
		if len(line) == 0 || line[0] != '$' {
			return nil, syntaxError("$ and the length of an argument", line)
		}
		size, err := parseLength(line)
		if err != nil {
			return nil, err
		}
		if size < 0 {
			return nil, syntaxError("$ and the length of an argument", line)
		}
		word, err := readBulk(r, size)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

func readInline(r *bufio.Reader) ([]string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("%w: expected an inline command of at most %d bytes", ErrProtocol, maxLine)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, unexpected(err)
		}
	}
	fields, err := splitInline(line)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, f := range fields {
		words = append(words, string(f))
	}
	return words, nil
}
