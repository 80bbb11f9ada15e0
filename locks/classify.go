package locks

import (
	"errors"

	"github.com/redis/go-redis/v9"
)

// Outcome says what an error of a lock call means for the lock.
type Outcome uint8

// The outcomes. The zero value is the careful one.
const (
	// Indefinite: the call may have taken effect, or may take effect later.
	Indefinite Outcome = iota
	// Refused: the call did nothing, and never will.
	Refused
)

func (o Outcome) String() string {
	if o == Refused {
		return "refused"
	}
	return "indefinite"
}

// Classify tells a definite refusal from an error that leaves the outcome open.
// An error that it does not know is Indefinite. So is a nil error, which is no refusal.
// CROSSSLOT is a refusal: a node of a Redis Cluster looks at the keys before it executes.
func Classify(err error) Outcome {
	var input *InputError
	switch {
	case errors.Is(err, ErrTaken),
		errors.Is(err, ErrNotHeld),
		errors.Is(err, ErrRejected),
		redis.HasErrorPrefix(err, "CROSSSLOT"),
		errors.As(err, &input):
		return Refused
	default:
		return Indefinite
	}
}
