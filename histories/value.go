package histories

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// soleForm returns the one form that text is.
func soleForm(text string) (form, bool) {
	in := bufio.NewReaderSize(strings.NewReader(text), min(len(text)+1, 4<<10))
	r := &formReader{in: in, line: 1, names: make(map[string]string)}
	f, err := r.next()
	if err != nil {
		return form{}, false
	}
	_, err = r.next()
	return f, errors.Is(err, io.EOF)
}

// Elements returns the texts of what the EDN vector or list that a Value is holds, or nothing
// if it is none.
func Elements(value string) []string {
	f, ok := soleForm(value)
	if !ok || f.kind != formVector && f.kind != formList {
		return nil
	}
	texts := make([]string, len(f.items))
	for i, item := range f.items {
		texts[i] = textOf(item)
	}
	return texts
}

// tupleTag is the tag of jepsen.independent's tuples, where they have one.
const tupleTag = "jepsen.independent.Tuple"

// A Tuple is a Value that is a pair of EDN, as those of jepsen.independent are.
type Tuple struct {
	Key    string // its first element, as EDN: 1 and "1" are two keys
	Value  string // its second, as the Value of an Event
	Tagged bool   // it says of itself that it is a Tuple, and no other pair
}

// ReadTuple reads a Value of two elements, [k v] or #jepsen.independent.Tuple [k v]. It reports
// whether it is one.
func ReadTuple(value string) (Tuple, bool) {
	if value == "" || value[0] != '[' && value[0] != '#' { // spares the reader where nothing is to be read
		return Tuple{}, false
	}
	f, ok := soleForm(value)
	if !ok {
		return Tuple{}, false
	}
	tagged := f.kind == formTagged && f.text == tupleTag
	if tagged {
		f = f.items[0]
	}
	if f.kind != formVector || len(f.items) != 2 {
		return Tuple{}, false
	}
	return Tuple{Key: string(appendForm(nil, f.items[0])), Value: textOf(f.items[1]), Tagged: tagged}, true
}
