package histories

// Mode says with whom an acquire is ready to share its key. It is the Value of an acquire's
// Invoke; histories that know nothing of modes have exclusive acquires only.
type Mode string

// The modes of an acquire.
const (
	Exclusive Mode = ""        // with nobody
	Shared    Mode = "read"    // with other shared attempts: a reader's
	Reentrant Mode = "reenter" // with other such attempts of its own worker
)

// Mode is the mode of an acquire's Invoke. A Value that names none means Exclusive, as
// what shares with nobody accuses most.
func (e Event) Mode() Mode {
	if m := Mode(e.Value); e.F == Acquire && (m == Shared || m == Reentrant) {
		return m
	}
	return Exclusive
}

// Shares reports whether h and o may hold one key at the same time.
func (h Hold) Shares(o Hold) bool {
	switch {
	case h.Mode != o.Mode || h.Mode == Exclusive:
		return false
	case h.Mode == Reentrant:
		return h.Worker == o.Worker
	}
	return true
}
