package report

import (
	"math"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/checker"
)

// Measured is a lock, with how much of what lasts longer and longer its properties survive.
type Measured struct {
	Lock    string
	Margins []Margin // those of one disturbance in a row
}

// Margin is how far a property holds as a disturbance lasts longer and longer.
type Margin struct {
	Disturbance string // a name
	Title       string // what it is
	Property    checker.Property
	Survives    time.Duration // the longest up to which it holds. Negative: it does not hold without any
	Always      bool          // it holds as far as was looked
	Again       bool          // it also holds under some that are longer than one under which it does not
	Looked      time.Duration // the longest that was looked at
	Lease       time.Duration // that of the lock
}

// Leases is a length in leases, to a thousandth.
func (m Margin) Leases(d time.Duration) string {
	const thousand = 1000
	return strconv.FormatFloat(math.Round(d.Seconds()/m.Lease.Seconds()*thousand)/thousand, 'f', -1, 64) + " T"
}

// Never reports whether the property does not hold, or is not put to the test, without any disturbance.
func (m Margin) Never() bool { return m.Survives < 0 }
