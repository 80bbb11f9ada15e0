package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxJSONNesting is cjson's limit.
const maxJSONNesting = 1000

// cjson is the JSON library of scripts. miniredis' own hides errors, reads null as a
// missing value, writes an empty table as [], and mixes up the order of keys anew in
// every run.
func cjson(l *lua.LState) library {
	null := l.NewUserData()
	lib := functions(l, map[string]lua.LGFunction{
		"encode": func(l *lua.LState) int {
			e := encoder{null: null}
			if err := e.value(l.CheckAny(1), 0); err != nil {
				l.RaiseError("%s", err)
			}
			l.Push(lua.LString(e.String()))
			return 1
		},
		"decode": func(l *lua.LState) int {
			d := decoder{json.NewDecoder(strings.NewReader(l.CheckString(1))), l, null}
			v, err := d.document()
			if err != nil {
				l.RaiseError("%s", err)
			}
			l.Push(v)
			return 1
		},
	})
	lib["null"] = null
	return lib
}

// jsonError is what the original says.
type jsonError string

func (e jsonError) Error() string { return string(e) }

type encoder struct {
	strings.Builder
	null lua.LValue
}

func (e *encoder) value(v lua.LValue, nesting int) error {
	switch v := v.(type) {
	case *lua.LNilType:
		e.WriteString("null")
	case lua.LBool:
		e.WriteString(v.String())
	case lua.LNumber:
		e.WriteString(strconv.FormatFloat(float64(v), 'g', 14, 64))
	case lua.LString:
		e.text(string(v))
	case *lua.LTable:
		if nesting >= maxJSONNesting {
			return jsonError(fmt.Sprintf("Cannot serialise, excessive depth (%d)", nesting+1))
		}
		return e.table(v, nesting+1)
	default:
		if v != e.null {
			return jsonError(fmt.Sprintf("Cannot serialise %s: type not supported", v.Type()))
		}
		e.WriteString("null")
	}
	return nil
}

func (e *encoder) text(s string) {
	e.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '/':
			e.WriteByte('\\')
			e.WriteByte(c)
		case '\b':
			e.WriteString(`\b`)
		case '\f':
			e.WriteString(`\f`)
		case '\n':
			e.WriteString(`\n`)
		case '\r':
			e.WriteString(`\r`)
		case '\t':
			e.WriteString(`\t`)
		default:
			if c < ' ' || c == 0x7f {
				fmt.Fprintf(e, `\u%04x`, c)
			} else {
				e.WriteByte(c)
			}
		}
	}
	e.WriteByte('"')
}

func (e *encoder) table(t *lua.LTable, nesting int) error {
	length, err := arrayLength(t)
	if err != nil {
		return err
	}
	if length > 0 {
		return e.array(t, length, nesting)
	}
	separator := "{"
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		e.WriteString(separator)
		separator = ","
		switch k := k.(type) {
		case lua.LString:
			e.text(string(k))
		case lua.LNumber:
			e.text(strconv.FormatFloat(float64(k), 'g', 14, 64))
		default:
			return jsonError("Cannot serialise table: table key must be a number or string")
		}
		e.WriteByte(':')
		if err := e.value(v, nesting); err != nil {
			return err
		}
	}
	if separator == "{" {
		e.WriteByte('{')
	}
	e.WriteByte('}')
	return nil
}

func (e *encoder) array(t *lua.LTable, length, nesting int) error {
	e.WriteByte('[')
	for i := 1; i <= length; i++ {
		if i > 1 {
			e.WriteByte(',')
		}
		if err := e.value(t.RawGetInt(i), nesting); err != nil {
			return err
		}
	}
	e.WriteByte(']')
	return nil
}

// arrayLength is 0 for what is no array: empty, or with keys other than 1, 2, 3...
func arrayLength(t *lua.LTable) (int, error) {
	length, items := 0, 0
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n, ok := k.(lua.LNumber)
		if !ok || n < 1 || n != lua.LNumber(int(n)) {
			return 0, nil
		}
		length, items = max(length, int(n)), items+1
	}
	if length > 10 && length > 2*items { // cjson's own limits
		return 0, jsonError("Cannot serialise table: excessively sparse array")
	}
	return length, nil
}

type decoder struct {
	*json.Decoder
	lua  *lua.LState
	null lua.LValue
}

func (d decoder) document() (lua.LValue, error) {
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err == nil {
		return nil, jsonError("Expected the end but found invalid token")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return v, nil
}

func (d decoder) value(nesting int) (lua.LValue, error) {
	token, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch v := token.(type) {
	case bool:
		return lua.LBool(v), nil
	case float64:
		return lua.LNumber(v), nil
	case string:
		return lua.LString(v), nil
	case json.Delim:
		if nesting >= maxJSONNesting {
			return nil, jsonError(fmt.Sprintf("Found too many nested data structures (%d)", nesting+1))
		}
		return d.table(v == '{', nesting+1)
	}
	return d.null, nil
}

func (d decoder) table(object bool, nesting int) (lua.LValue, error) {
	t := d.lua.NewTable()
	for i := 1; d.More(); i++ {
		var key lua.LValue = lua.LNumber(i)
		if object {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			key = lua.LString(name.(string)) // the decoder lets nothing else pass
		}
		v, err := d.value(nesting)
		if err != nil {
			return nil, err
		}
		t.RawSet(key, v)
	}
	_, err := d.Token() // the closing bracket
	return t, err
}
