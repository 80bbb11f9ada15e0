package oracle

// A tick is a hundredth of a millisecond. Histories to be compared have no finer times.
type tick = int32

const (
	maxCalls = 8
	maxActs  = maxCalls + 3
	forever  = tick(1 << 29)
)

// instants are unknown instants, numbered from 1 on, and what is known of them: most[i][j] is
// the largest that i less j can be. Number 0 is the start of the history. The table is always
// closed: it says what follows from all that it was told.
type instants struct {
	n    int
	most [maxActs + 1][maxActs + 1]tick
}

// add adds an instant of which nothing is known, and returns its number.
func (s *instants) add() int {
	s.n++
	for i := range s.n {
		s.most[i][s.n], s.most[s.n][i] = forever, forever
	}
	return s.n
}

// within says that i is at most d later than j, where d may be negative. It returns whether
// that can be.
func (s *instants) within(i, j int, d tick) bool {
	if d >= s.most[i][j] {
		return true
	}
	if s.most[j][i]+d < 0 {
		return false
	}
	for a := range s.n + 1 {
		to := s.most[a][i]
		if to >= forever {
			continue
		}
		to += d
		for b := range s.n + 1 {
			if from := s.most[j][b]; from < forever {
				s.most[a][b] = min(s.most[a][b], to+from)
			}
		}
	}
	return true
}

// after says that i is at least d later than j, and returns whether that can be.
func (s *instants) after(i, j int, d tick) bool { return s.within(j, i, -d) }
