package histories

import (
	"strconv"
	"strings"
)

func appendEDN(b []byte, e *Event) []byte {
	b = appendInt(b, "{:index ", int64(e.Index))
	b = appendInt(b, ", :time ", int64(e.Time))
	fault := e.Process == Nemesis && !e.Single()
	switch {
	case fault:
		b = append(b, ", :type :info, :process :"+nemesisProcess...)
	case e.Single():
		b = append(b, ", :type :info, :process :"+ourProcess...)
	default:
		b = append(b, ", :type :"...)
		b = append(b, e.Type.String()...)
		b = appendInt(b, ", :process ", int64(e.Process))
	}
	b = append(b, ", :f "...)
	if keyworthy(string(e.F)) {
		b = append(b, ':')
		b = append(b, e.F...)
	} else {
		b = appendEDNString(b, string(e.F))
	}
	b = append(b, ", :value "...)
	b = appendValue(b, e.Value)
	if e.Err != "" {
		b = append(b, ", :error "...)
		b = appendEDNString(b, e.Err)
	}
	b = appendOurs(b, e, fault)
	return append(b, '}')
}

// appendOurs writes the fields in our namespace. Of a fault it says whether it begins or ends.
func appendOurs(b []byte, e *Event, fault bool) []byte {
	b = appendInt(b, ", :lockbench/worker ", int64(e.Worker))
	if e.Single() {
		b = appendInt(b, ", :lockbench/process ", int64(e.Process))
	}
	if fault {
		b = append(b, ", :lockbench/type :"...)
		b = append(b, e.Type.String()...)
	}
	if e.Key != "" {
		b = append(b, ", :lockbench/key "...)
		b = appendEDNString(b, e.Key)
	}
	if e.Attempt != 0 {
		b = append(b, ", :lockbench/attempt "...)
		b = strconv.AppendUint(b, e.Attempt, 10)
	}
	if e.Token != 0 {
		b = appendInt(b, ", :lockbench/token ", e.Token)
	}
	if e.TTL != 0 {
		b = appendInt(b, ", :lockbench/ttl ", int64(e.TTL))
	}
	if e.Deadline != 0 {
		b = appendInt(b, ", :lockbench/deadline ", int64(e.Deadline))
	}
	if e.Version != 0 {
		b = appendInt(b, ", :lockbench/version ", e.Version)
	}
	if e.Node != "" {
		b = append(b, ", :lockbench/node "...)
		b = appendEDNString(b, e.Node)
	}
	return b
}

// keyworthy reports whether every reader takes s as the name of a keyword.
func keyworthy(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !digit(c) && strings.IndexByte("-_*+!?", c) < 0) {
			return false
		}
	}
	return s != ""
}

// appendValue writes an Event's Value: nothing as nil, a whole number, a boolean, a keyword
// or a collection as what it is, and all else as a string. textOf undoes it.
func appendValue(b []byte, value string) []byte {
	if value == "" {
		return append(b, "nil"...)
	}
	if c := value[0]; digit(c) || strings.IndexByte("-:[({#tf", c) >= 0 {
		if f, ok := soleForm(value); ok && valuable(f.kind) {
			if at := len(b); string(appendForm(b, f)[at:]) == value {
				return appendForm(b, f)
			}
		}
	}
	return appendEDNString(b, value)
}

func valuable(k formKind) bool {
	return k == formInt || k == formBool || k == formKeyword || k >= formList
}
