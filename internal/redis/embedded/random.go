package embedded

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// drand48 is the generator behind math.random in Redis. Every server starts it with
// the same seed and scripts draw from it one after the other, so that runs repeat
// themselves.
type drand48 uint64

const firstSeed = 0x1234abcd

func newDrand48(seed uint32) drand48 { return drand48(seed)<<16 | 0x330e }

// next is between 0 (included) and 1.
func (d *drand48) next() float64 {
	const bits = 1<<48 - 1
	*d = (*d*0x5deece66d + 0xb) & bits
	return float64(*d>>17%math.MaxInt32) / math.MaxInt32
}

// randomness is the part of the math library that draws.
func (in *interpreter) randomness() library {
	return functions(in.lua, map[string]lua.LGFunction{
		"random": func(l *lua.LState) int {
			r := in.random.next()
			if l.GetTop() == 0 {
				l.Push(lua.LNumber(r))
				return 1
			}
			low, high, arg := 1, l.CheckInt(1), 1
			if l.GetTop() > 1 {
				low, high, arg = high, l.CheckInt(2), 2
			}
			if low > high {
				l.ArgError(arg, "interval is empty")
			}
			l.Push(lua.LNumber(math.Floor(r*float64(high-low+1)) + float64(low)))
			return 1
		},
		"randomseed": func(l *lua.LState) int {
			*in.random = newDrand48(uint32(l.CheckInt64(1)))
			return 0
		},
	})
}
