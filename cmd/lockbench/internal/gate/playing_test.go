package gate

import (
	"errors"
	"testing"
)

// TestNoneBegins: where several runs fail and none has begun the others are given up, for what the first of them said.
func TestNoneBegins(t *testing.T) {
	for name, tc := range map[string]struct {
		begun []bool // of the runs that have ended
		runs  int    // in the plan
		want  bool
	}{
		"nothing to play":      {nil, 0, false},
		"nothing ended":        {nil, 9, false},
		"one of many failed":   {[]bool{false}, 9, false},
		"several failed":       {[]bool{false, false, false, false}, 9, true},
		"all of a few failed":  {[]bool{false, false}, 2, true},
		"one began before":     {[]bool{true, false, false, false, false}, 9, false},
		"one began in between": {[]bool{false, false, true, false, false}, 9, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s startup
			first := errors.New("no server")
			for i, begun := range tc.begun {
				err := first
				if i > 0 {
					err = errors.New("nor this")
				}
				s.ended(begun, err)
			}
			if got := s.hopeless(tc.runs); got != tc.want {
				t.Errorf("given up: %v, want %v", got, tc.want)
			}
			if tc.want && !errors.Is(s.err, first) {
				t.Errorf("for %v, want %v", s.err, first)
			}
		})
	}
}
