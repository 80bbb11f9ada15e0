package certificate

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// An Effect tells when a call took effect, and how it is answered.
type Effect struct {
	Call  int64 // its number: how many calls on the lock of its key were invoked before
	At    time.Duration
	Done  bool
	Token int64 // of a grant, 0: none
}

// Effects writes the effects of an explanation, in their order, each as the difference to the one
// before it. The zero value is ready to use.
type Effects struct {
	last    Effect
	highest int64 // token
	bytes   []byte
	n       int
}

// The bits of an effect's first number.
const (
	refusedBit = 1 << iota
	tokenBit
	effectBits = iota
)

// Add adds an effect. Times and tokens must not go back.
func (w *Effects) Add(e Effect) {
	head := zigzag(e.Call-w.last.Call) << effectBits
	if !e.Done {
		head |= refusedBit
	}
	if e.Token != 0 {
		head |= tokenBit
	}
	w.bytes = binary.AppendUvarint(w.bytes, head)
	w.bytes = binary.AppendUvarint(w.bytes, uint64(e.At-w.last.At))
	if e.Token != 0 {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(e.Token-w.highest))
		w.highest = e.Token
	}
	w.last = e
	w.n++
}

// Explanation is what was added, of a key.
func (w *Effects) Explanation(key string) Explanation {
	return Explanation{Key: key, Calls: w.n, Effects: w.bytes}
}

func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

// effectReader reads what Effects wrote.
type effectReader struct {
	last    Effect
	highest int64
	left    []byte
}

var errEffects = errors.New("the effects are cut or damaged")

// next returns the next effect.
func (r *effectReader) next() (Effect, error) {
	head, ok := r.number(math.MaxInt64)
	if !ok {
		return Effect{}, errEffects
	}
	delta := head >> effectBits
	since, ok := r.number(uint64(forever - r.last.At))
	if !ok {
		return Effect{}, errEffects
	}
	e := Effect{Call: r.last.Call + (int64(delta>>1) ^ -int64(delta&1)), At: r.last.At + time.Duration(since), Done: head&refusedBit == 0}
	if head&tokenBit != 0 {
		rise, ok := r.number(uint64(math.MaxInt64 - r.highest))
		if !ok {
			return Effect{}, errEffects
		}
		r.highest += int64(rise)
		e.Token = r.highest
	}
	r.last = e
	return e, nil
}

// number returns the next number, if it is at most as great as that.
func (r *effectReader) number(most uint64) (uint64, bool) {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || v > most || n > 1 && r.left[n-1] == 0 { // the last says that a shorter one would do
		return 0, false
	}
	r.left = r.left[n:]
	return v, true
}
