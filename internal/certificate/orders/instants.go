package orders

import "time"

// forever is later than all that is known of a time. No sum along two ways through all instants
// overflows.
const forever = time.Duration(1 << 58)

// maxInstants is how many are told apart at once: those from which leases run, and those of two acts.
const maxInstants = MaxCalls + 2

// instants are unknown instants, numbered from 1 on, and what is known of them: most[i][j] is
// the largest that i less j can be. Number 0 is the start of the history. The table is always
// closed: it says what follows from all that it was told.
type instants struct {
	n    int
	most [maxInstants + 1][maxInstants + 1]time.Duration
}

// add adds an instant of which nothing is known, and returns its number.
func (s *instants) add() int {
	s.n++
	for i := range s.n {
		s.most[i][s.n], s.most[s.n][i] = forever, forever
	}
	return s.n
}

// within reports whether i is at most d later than j, where d may be negative. It returns whether
// that can be.
func (s *instants) within(i, j int, d time.Duration) bool {
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

// after reports whether i is at least d later than j, and returns whether that can be.
func (s *instants) after(i, j int, d time.Duration) bool { return s.within(j, i, -d) }
