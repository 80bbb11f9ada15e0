package histories

import (
	"fmt"
	"strconv"
)

// textOf is the text of a :value or :error, empty for nil.
func textOf(f form) string {
	switch f.kind {
	case formNil:
		return ""
	case formString:
		return f.text
	}
	return string(appendForm(nil, f))
}

// intField reports whether there is a number; nil is none.
func intField[T ~int | ~int64](name string, v form, to *T) (bool, error) {
	if v.kind == formNil {
		return false, nil
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if v.kind != formInt || err != nil || int64(T(n)) != n {
		return false, fmt.Errorf("%q is %s, want an integer", name, told(v))
	}
	*to = T(n)
	return true, nil
}

func attemptField(name string, v form, to *uint64) error {
	n, err := strconv.ParseUint(v.text, 10, 64)
	if v.kind != formInt || err != nil {
		return fmt.Errorf("%q is %s, want an integer from 0 up", name, told(v))
	}
	*to = n
	return nil
}

func textField(name string, v form, to *string) error {
	if v.kind != formString {
		return fmt.Errorf("%q is %s, want a string", name, told(v))
	}
	*to = v.text
	return nil
}

// nameField takes a keyword or a string.
func nameField(name string, v form, to *string) (bool, error) {
	if v.kind != formKeyword && v.kind != formString {
		return false, fmt.Errorf("%q is %s, want a keyword or a string", name, told(v))
	}
	*to = v.text
	return true, nil
}

func typeField(name string, v form, to *Type) error {
	var text string
	if _, err := nameField(name, v, &text); err != nil {
		return fmt.Errorf("%q is %s, want %s", name, told(v), wantType)
	}
	return to.UnmarshalText([]byte(text))
}

// told is a form as an error shows it.
func told(f form) string {
	switch f.kind {
	case formNil:
		return "nil"
	case formString, formKeyword, formInt, formNumber, formSymbol:
		return string(abbreviate(appendForm(nil, f)))
	}
	return f.kind.String()
}
