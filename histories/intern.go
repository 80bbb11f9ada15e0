package histories

// interned shares the strings of events: a large history has a few keys, nodes and values,
// again and again. One that is nil shares nothing.
type interned struct {
	strings map[string]string
}

// string returns b as a string, the same one for the same bytes. It remembers short strings
// only, and not too many of them.
func (in *interned) string(b []byte) string {
	const most, longest = 1 << 14, 128
	if in == nil || len(b) > longest {
		return string(b)
	}
	if s, ok := in.strings[string(b)]; ok {
		return s
	}
	if in.strings == nil {
		in.strings = make(map[string]string)
	}
	s := string(b)
	if len(in.strings) < most {
		in.strings[s] = s
	}
	return s
}
