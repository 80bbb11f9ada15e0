package locks

import (
	"io"
	"math/rand/v2"
	"sync"
)

// NewSource returns the random bytes of a seed, for Env.Rand. Any number of goroutines may read
// them.
func NewSource(seed [32]byte) io.Reader { return &source{r: rand.NewChaCha8(seed)} }

type source struct {
	mu sync.Mutex
	r  io.Reader
}

func (s *source) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(b)
}
