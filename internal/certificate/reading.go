package certificate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
)

// reading is a history as it is read: it hashes all bytes, and keeps the lines that begin at some
// offsets.
type reading struct {
	from   io.Reader
	hash   hash.Hash
	bytes  int64   // read so far
	wanted []int64 // offsets that are not before bytes, in order; while open, of the open line first
	open   bool    // a line that is wanted has begun and not ended
	line   []byte  // what was read of it
	lines  map[int64][]byte
}

// maxNamed is how long a line may be that a certificate names, in bytes.
const maxNamed = 16 << 20

func newReading(from io.Reader, offsets []int64) *reading {
	wanted := slices.Compact(slices.Sorted(slices.Values(offsets)))
	wanted = slices.DeleteFunc(wanted, func(offset int64) bool { return offset < 0 })
	return &reading{from: from, hash: sha256.New(), wanted: wanted, lines: make(map[int64][]byte)}
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.hash.Write(p[:n]) // it never fails
	r.keep(p[:n])
	r.bytes += int64(n)
	if err != nil && r.open { // the last line lacks its newline
		r.close(r.bytes)
	}
	return n, err
}

// keep keeps what is wanted of the next bytes.
func (r *reading) keep(p []byte) {
	for begun := r.bytes; len(p) > 0 && len(r.wanted) > 0; {
		if !r.open {
			skip := r.wanted[0] - begun
			if skip >= int64(len(p)) {
				return
			}
			p, begun, r.open = p[skip:], r.wanted[0], true
		}
		part, rest, whole := bytes.Cut(p, []byte{'\n'})
		r.line = append(r.line, part...)
		if !whole && len(r.line) < maxNamed {
			return
		}
		begun += int64(len(p) - len(rest))
		p = rest
		r.close(begun)
	}
}

// close ends the line that is open. The next one may begin at an offset.
func (r *reading) close(next int64) {
	r.lines[r.wanted[0]], r.line, r.open = r.line, nil, false
	r.wanted = slices.DeleteFunc(r.wanted, func(offset int64) bool { return offset < next })
}

func (r *reading) sum() string { return hex.EncodeToString(r.hash.Sum(nil)) }

// lineAt returns the line that begins at an offset, if it has a hash.
func (r *reading) lineAt(n Named) ([]byte, error) {
	line, ok := r.lines[n.Offset]
	if !ok {
		return nil, fmt.Errorf("no line begins at byte %d, where event %d (%s) is said to be", n.Offset, n.Index, n.Role)
	}
	sum := sha256.Sum256(line)
	if found := hex.EncodeToString(sum[:]); found != n.SHA256 {
		return nil, fmt.Errorf("the line at byte %d, of event %d (%s), has the hash %s, want %q", n.Offset, n.Index, n.Role, found, n.SHA256)
	}
	return line, nil
}
