package wire

import "sync"

// Buffers are used again by the connections of the links that share them, since to make them can cost more than what they carry. They
// are safe for concurrent use. The zero value is ready.
type Buffers struct{ free sync.Pool }

// get returns a buffer of bufferSize, whose content is any.
func (b *Buffers) get() []byte {
	if b != nil {
		if buf, ok := b.free.Get().(*[bufferSize]byte); ok {
			return buf[:]
		}
	}
	return make([]byte, bufferSize)
}

// put takes back a buffer, of any size, that nobody uses any more.
func (b *Buffers) put(buf []byte) {
	if b != nil && cap(buf) == bufferSize {
		b.free.Put((*[bufferSize]byte)(buf[:bufferSize]))
	}
}
